import { plainText, visible } from '@cinnabar/sdk';

/** Text inside a card: nothing hidden, always one line, and no markup but mentions of channels. */
export function inert(text: string): string {
  const parts = text.split(CHANNEL_MENTION);
  return parts.map((part, n) => (n % 2 === 1 ? part : plainText(visible(part)))).join('');
}

/** The one piece of markup that stays: it notifies no one, and each client names the channel only to those who may see it. */
const CHANNEL_MENTION = /(<#\d{17,20}>)/;

/** Cuts at a character, never inside one, and says how much there is. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const characters = [...text];
  if (characters.length <= longest) return text;
  return `${characters.slice(0, longest).join('')} … (${characters.length} characters in all)`;
}

/** A value for people, unescaped: lists with commas, "None" for nothing. */
export function proseOf(value: unknown): string {
  if (value === undefined || value === null) return 'None';
  if (typeof value === 'string') return value === '' || value === 'None' ? JSON.stringify(value) : value;
  if (!Array.isArray(value)) return literalOf(value);
  if (value.length === 0) return 'None';
  const plain = value.every((item) => typeof item === 'string' && isOneWordOfAList(item));
  return value.map((item) => (plain ? String(item) : literalOf(item))).join(', ');
}

/** Whether the item can stand in a list without quotes and still be told from its neighbours. */
function isOneWordOfAList(item: string): boolean {
  return item.trim() === item && item !== '' && item !== 'None' && !item.includes(',');
}

/** A value as code, unescaped: `["Assault Rifles", "Body Armor"]`. */
export function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${literalOf(inner)}`);
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
  return JSON.stringify(value) ?? 'null';
}
