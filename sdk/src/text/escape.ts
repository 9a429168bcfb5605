/**
 * Makes people's and models' text harmless to show: nothing hidden in it, and none of it taken for Discord's markup.
 * For a value inside a message of your own, use both: `plainText(visible(value))`.
 */

/**
 * In this order: whole emoji (the joiners, selectors and tags in them belong there) · control, format and otherwise ignorable characters,
 * lone surrogates, private use, the blank Braille cell · marks piled so high that they would be drawn over other lines ·
 * the two signs that `visible` itself writes, which must not pass for its work.
 * Built from a string because the `v` flag is newer than the compiler's target; Node 20 has it. Not before it is needed: all of Unicode's
 * emoji take milliseconds to read.
 */
const makeTelling = () =>
  new RegExp(
    [
      '(?<emoji>\\p{RGI_Emoji})',
      '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]',
      '(?<=\\p{M}{4})\\p{M}',
      '⏎|‹(?=U\\+)',
    ].join('|'),
    'gv',
  );
let telling: RegExp | undefined;

/**
 * Shows what cannot be seen: `‹U+202E›` for a control, format or other invisible character, `⏎` for a line feed.
 * Different texts stay different, and the result is always one line.
 * @example visible('a\u202Eb\nc') // 'a‹U+202E›b⏎c'
 */
export function visible(text: string): string {
  telling ??= makeTelling();
  return text.replace(telling, (found: string, emoji: string | undefined) => {
    if (emoji !== undefined) return emoji;
    return found === '\n' ? '⏎' : named(found);
  });
}

function named(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `‹U+${hex}›`;
}

/** Marks that mean something anywhere in a line, by themselves or as the start of a link, a mention or a spoiler. */
const INLINE_MARKUP = /[\\*_~`|<]|\](?=\()|@(?=everyone|here)|:(?=\/\/)/g;
/** Marks that mean something at the start of a line: quotes, headings, small print, lists. */
const LINE_MARKUP = /^([ \t]*)(#|>|[-+](?=[\s#]|$)|\d+(?=[.)](?:\s|$)))/gm;

/**
 * Escapes Discord's markdown, mentions and links, so that the text is shown as it was typed. Send with `allowedMentions: { parse: [] }` all
 * the same: Discord decides about pings before it reads the backslash.
 * @example plainText('**V** <@1>') // '\\*\\*V\\*\\* \\<@1>'
 */
export function plainText(text: string): string {
  return text
    .replace(INLINE_MARKUP, '\\$&')
    .replace(LINE_MARKUP, (_, indent: string, mark: string) => `${indent}${listNumberSafe(mark)}`);
}

/** A backslash before a digit would be shown; after the digits it takes the meaning from the dot. */
function listNumberSafe(mark: string): string {
  return /\d/.test(mark) ? `${mark}\\` : `\\${mark}`;
}
