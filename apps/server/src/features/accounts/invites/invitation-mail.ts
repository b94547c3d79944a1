/** What an invited person reads. */
export const invitationMail = (inviteUrl: string, expiresAt: string): { subject: string; text: string } => ({
  subject: 'Your invitation to Sallyport',
  text: [
    'You have been invited to manage a reverse proxy with Sallyport.',
    'Open this link to choose your name and password:',
    inviteUrl,
    `The link works once, until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC.`,
    'If you did not expect this message, ignore it: without the link nothing happens.',
  ].join('\n\n'),
});
