/** Where decoded bytes go: free room from `at` on in `chunk`. `reserve` may put another chunk in place. */
export interface ByteArena {
  chunk: Uint8Array;
  at: number;
  /** Makes room for `size` bytes at `at` of `chunk`. */
  reserve(size: number): void;
}

/** Bytes buf[start, end), either of the input itself or of an arena. */
export interface ByteSpan {
  readonly buf: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export const emptySpan: ByteSpan = { buf: new Uint8Array(0), start: 0, end: 0 };

/** Takes name and value of an argument. */
export interface ArgSink {
  argument(name: ByteSpan, value: ByteSpan): void;
}

/** Takes the arguments of a JSON document. */
export interface JsonSink extends ArgSink {
  /** The name of a list that holds scalars, which have numbers behind it. Once for each list, before its first scalar. */
  list(name: ByteSpan): void;
}

/** Takes what XML rules look at. */
export interface XmlSink {
  /** One run of character data that is not all white space, entities resolved. */
  text(text: ByteSpan): void;
  /** The value of one attribute. */
  attribute(value: ByteSpan): void;
  /** Target and content of one processing instruction. */
  instruction(content: ByteSpan): void;
  /** All character data of the document in order, once, at its end: what ModSecurity has at `XML:/*`. */
  content(text: ByteSpan): void;
}

/** One part of a multipart body; `filename` is null for a plain field. */
export interface MultipartPart {
  readonly name: ByteSpan;
  readonly filename: ByteSpan | null;
  /** What `filename*` says, decoded: some applications take it in place of `filename`. */
  readonly extendedFilename: ByteSpan | null;
  /** The part's Content-Type as sent; empty when it has none. */
  readonly type: string;
}

/** Takes the parts of a multipart body in order; of each part first its headers, then its field or file. */
export interface MultipartSink {
  /** A header line without its line end, folded lines joined by a space. */
  header(part: MultipartPart, line: ByteSpan): void;
  field(part: MultipartPart, value: ByteSpan): void;
  file(part: MultipartPart, content: ByteSpan): void;
}

/** How much a parser takes; past a limit it stops and says so, it never throws. */
export interface BodyLimits {
  /** Most arguments, parts or (together) XML text runs and attributes. */
  readonly maxArguments: number;
  /** Deepest nesting of JSON or XML. */
  readonly maxDepth: number;
}

/** Longest JSON argument name: a name repeats all names above it, so that long ones would multiply the body's size. */
export const maxNameBytes = 8192;
