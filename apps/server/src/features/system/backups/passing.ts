import type { BackupKind } from '@sallyport/contract';

/** Kinds that are made without anybody asking, and go the same way. */
export const PASSING: readonly BackupKind[] = ['scheduled', 'automatic'];
