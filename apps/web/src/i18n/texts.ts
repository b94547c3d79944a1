/** The same keys as those of another language, each with a text of its own. */
export type Texts<T> = { [Key in keyof T]: T[Key] extends string ? string : Texts<T[Key]> };
