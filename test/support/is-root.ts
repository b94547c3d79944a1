/** Mounting a disk, giving files away and starting a process as somebody else take root: tests of these run for root alone. */
export const isRoot = process.getuid?.() === 0;
