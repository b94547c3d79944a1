import { useMemo } from 'react';
import { encode } from 'uqr';

/** A text as a QR code, drawn here: dark on light in both themes, for cameras. */
export const QrCode = ({ text, label, size = 200 }: { text: string; label: string; size?: number }) => {
  const { data, size: modules } = useMemo(() => encode(text, { border: 3 }), [text]);
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg
      viewBox={`0 0 ${modules} ${modules}`}
      width={size}
      height={size}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={modules} height={modules} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
};
