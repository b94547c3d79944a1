/** The five states that anything can be in; the same colour, sign and place everywhere. */
export type StateKind = 'good' | 'waiting' | 'warning' | 'bad' | 'off';
