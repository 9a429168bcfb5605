const MAX_NOTE = 300;

/** Other people's text as one line that cannot end the brackets around it. */
export function oneLine(text: string, maxLength = MAX_NOTE): string {
  const line = text.replace(/\s+/g, ' ').replaceAll(']', ')').replaceAll('[', '(').trim();
  const characters = line.length <= maxLength ? [] : [...line];
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength).join('')}…`;
}
