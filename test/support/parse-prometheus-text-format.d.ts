declare module 'parse-prometheus-text-format' {
  /** @throws InvalidLineError for a line that is not of the format */
  function parse(text: string): unknown;
  export = parse;
}
