const BASE64 = /^(?:data:[\w/+.-]+;base64,)?[\w+/=-]{1000,}$/;

/** The body of a request as indented JSON, for people: of images and other base64 only the length. */
export function requestBodyText(body: unknown): string {
  const text = JSON.stringify(
    body,
    (_key, value: unknown) =>
      typeof value === 'string' && BASE64.test(value) ? `(${value.length} characters of base64)` : value,
    2,
  );
  return text ?? 'null';
}
