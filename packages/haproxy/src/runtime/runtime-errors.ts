/** HAProxy could not be asked: no process, no answer in time, or it went away in the middle of the answer. */
export class RuntimeUnavailable extends Error {
  override name = 'RuntimeUnavailable';
}

/** HAProxy understood the command and refused it; `reply` is its text. */
export class RuntimeRefused extends Error {
  readonly reply: string;
  constructor(command: string, reply: string) {
    super(`HAProxy refused "${command}": ${reply.trim().slice(0, 300)}`);
    this.name = 'RuntimeRefused';
    this.reply = reply;
  }
}
