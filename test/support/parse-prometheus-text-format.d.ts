declare module 'parse-prometheus-text-format' {
  /** @throws InvalidLineError for an invalid line */
  function parse(text: string): unknown;
  export = parse;
}
