import '@mantine/core/styles.css';
import './app/global.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router';
import { queryClient } from './api/query.ts';
import { nonce } from './app/nonce.ts';
import { router } from './app/router.tsx';
import { fetchTexts } from './app/texts/texts.ts';
import { theme } from './app/theme.ts';
import { startI18n } from './i18n/index.ts';

// Not awaited here: what is loaded later may need a module that this one is packed with, and would wait for it.
void startI18n(['common', 'views'], fetchTexts).then(() =>
  createRoot(document.getElementById('root') as HTMLElement).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  ),
);
