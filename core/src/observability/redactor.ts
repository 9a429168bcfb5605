import { isSecretName, REDACTED, redactShapes } from './secret-patterns.js';

/** Takes secrets out of text. One for the host; logs, cards and audit entries go through it. */
export interface Redactor {
  /** Registers a secret, so that it is taken out wherever it appears, also percent- or base64-encoded. Blank and very short values are passed over. */
  add(secret: string | undefined): void;
  /** The text with every registered secret, and whatever has the shape of one, taken out. */
  text(text: string): string;
}

/** Shorter ones are words that would be taken out of ordinary sentences. */
const SHORTEST = 5;

export function createRedactor(secrets: readonly (string | undefined)[] = []): Redactor {
  const known = new Set<string>();
  let pattern: RegExp | undefined;

  const add = (secret: string | undefined) => {
    const value = secret?.trim();
    if (value === undefined || value.length < SHORTEST) return;
    const encoded = /\p{Surrogate}/u.test(value) ? value : encodeURIComponent(value);
    for (const form of [value, encoded, Buffer.from(value).toString('base64')]) known.add(form);
    // Longest first, so that a secret that begins with another one goes as a whole.
    const forms = [...known].sort((one, other) => other.length - one.length);
    pattern = new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
  };
  for (const secret of secrets) add(secret);

  return {
    add,
    text: (text) => redactShapes(pattern === undefined ? text : text.replace(pattern, REDACTED)),
  };
}

/** The values of the variables whose name says that they are secret: `DISCORD_TOKEN`, `OPENAI_API_KEY`. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (value !== undefined && isSecretName(name) ? [value] : []));
}
