import { account } from './account/texts.en.ts';
import { audit } from './audit/texts.en.ts';
import { tokens } from './tokens/texts.en.ts';
import { users } from './users/texts.en.ts';

export const accounts = {
  account,
  audit,
  tokens,
  users,
  email: 'E-mail address',
  password: 'Password',
  name: 'Name',
  signIn: {
    title: 'Sign in',
    submit: 'Sign in',
    code: 'Code of the authenticator app',
    codeHint: 'Six digits, or one of your recovery codes.',
    wait: 'Too many attempts. Try again in {{seconds}} seconds.',
    ended: 'Your session has ended',
    endedAbout: 'Sign in, and go on where you were. What you have typed is still there.',
    somebodyElse: 'Sign in as somebody else; what is not saved is lost',
  },
  setup: {
    title: 'Welcome to Sallyport',
    about: 'The first administrator. Everything else can wait.',
    passwordHint: 'At least 10 characters. A few words in a row are easy to keep in mind and hard to guess.',
    token: 'Set-up token',
    tokenHint: 'Sallyport printed it when it started; it is asked for because you come from another machine.',
    submit: 'Create the administrator',
    done: 'There is an administrator already.',
  },
  invite: {
    title: 'You are invited',
    about: 'Choose a password for {{email}}.',
    submit: 'Accept and sign in',
    gone: 'This invitation is not valid any more. Ask whoever sent it for another one.',
  },
} as const;
