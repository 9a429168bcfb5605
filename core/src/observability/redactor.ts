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

/** What stands where a secret was. */
export const REDACTED = '[redacted]';

/** Shapes of credentials, each with what to put in their place. All of them linear: no pattern backtracks over its own repetition. */
const SHAPES: readonly (readonly [shape: RegExp, replacement: string])[] = [
  // Discord bot and user tokens: id, time and signature in base64url.
  [/\b[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}/g, REDACTED],
  [/\bmfa\.[\w-]{20,}/g, REDACTED],
  // https://docs.discord.com/developers/resources/webhook and interaction callbacks carry their token in the path.
  [/(\/webhooks\/\d{1,20}\/)[^\s/?#"'<>]{16,}/g, `$1${REDACTED}`],
  [/(\/interactions\/\d{1,20}\/)[^\s/?#"'<>]{16,}/g, `$1${REDACTED}`],
  // OpenAI, Anthropic and those who copied the form; xAI, Google, GitHub, Slack, AWS.
  [/\b(?:sk|pk|rk|xai|gsk)-[\w-]{12,}/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/\bgh[a-z]_\w{20,}|\bgithub_pat_\w{20,}/g, REDACTED],
  [/\bxox[a-z]-[\w-]{10,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  // What this host itself gives to MCP clients.
  [/\bcinnabar_mcp_[\w-]{20,}/g, REDACTED],
  // JSON web tokens.
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/\b(authorization["']?\s{0,8}[:=]\s{0,8}["']?)(?:(?:Bearer|Basic|Bot)\s{1,8})?[^\s"',;]{6,}/gi, `$1${REDACTED}`],
  // With a digit somewhere, so that a bearer of good news is left alone.
  [/\b(Bearer\s{1,8})(?=[^\s"']{0,200}\d)[\w.~+/=-]{8,}/gi, `$1${REDACTED}`],
  // user:password@ in an address, and credentials in its query.
  [/(:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}@/g, `$1${REDACTED}@`],
  [/([?&](?:api_?key|key|token|access_token|secret|password|sig|signature)=)[^\s&#"']+/gi, `$1${REDACTED}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, REDACTED],
];

/** Takes out everything that has the shape of a credential. */
export function redactShapes(text: string): string {
  let result = text;
  for (const [shape, replacement] of SHAPES) result = result.replace(shape, replacement);
  return result;
}

const SECRET_NAME =
  /^(?:.*[_\-.])?(?:token|secret|password|passwd|passphrase|api[_-]?key|private[_-]?key|access[_-]?key|credentials?|authorization|cookie|set-cookie)$/i;

/** Whether a field or variable of this name holds a secret: `apiKey`, `DISCORD_TOKEN`, `authorization`; not `maxTokens`. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
}
