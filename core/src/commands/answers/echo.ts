const LONGEST = 60;

/** Someone's text as inline code: one line, cut when long, unable to close the code or to become markup. */
export function echo(text: string): string {
  const line = text.replaceAll('`', 'ˋ').replaceAll(/\s+/g, ' ').trim();
  if (line === '') return 'nothing';
  const characters = [...line];
  return characters.length > LONGEST ? `\`${characters.slice(0, LONGEST).join('')}…\`` : `\`${line}\``;
}
