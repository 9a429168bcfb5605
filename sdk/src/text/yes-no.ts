const YES = ['yes', 'y', 'true', 'on', '1', 'enable', 'enabled', 'ja', 'an', 'wahr'];
const NO = ['no', 'n', 'false', 'off', '0', 'disable', 'disabled', 'nein', 'aus', 'falsch'];

/** Yes or no as people type it, in English or German, whatever the language of the member; `undefined` for any other word. */
export function readYesNo(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : undefined;
}
