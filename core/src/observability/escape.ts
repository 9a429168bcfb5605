/** Control and format characters: what could move a terminal's cursor, start a line of its own, or reorder what is read. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** One line of text in which nothing is hidden. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return ' ';
    return character === '\r' ? '\\r' : codeOf(character);
  });
}

/** JSON that is safe to print: the same value, with what JSON leaves as it is written as escapes. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (character) =>
    Array.from({ length: character.length }, (_, index) =>
      codeOf(String.fromCharCode(character.charCodeAt(index))),
    ).join(''),
  );
}
