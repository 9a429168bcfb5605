import { parseListen, RESULT_CHARACTERS, TIERS, t, z } from '@cinnabar/sdk';

const NAME = /^[a-z][a-z0-9_-]{0,23}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Headers and variables with such names contain only secrets. */
const SECRET = /token|secret|passw|api[_-]?key|authorization|cookie|credential/i;
const REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/;

const NO_REFERENCE = `must be a reference to the environment, such as \${CLIENT_SECRET}`;

const oauthSchema = z
  .strictObject({
    issuer: z.string().refine(isHttpUrl, 'must be the http or https address of the authorization server'),
    clientId: z.string().min(1),
    clientSecret: z.string().regex(REFERENCE, NO_REFERENCE).optional(),
    privateKey: z.string().regex(REFERENCE, NO_REFERENCE).optional(),
    algorithm: z.enum(['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA']).default('ES256'),
    scope: z.string().min(1).optional(),
  })
  .refine(
    ({ clientSecret, privateKey }) => (clientSecret === undefined) !== (privateKey === undefined),
    'needs either "clientSecret" or "privateKey"',
  );

const serverSchema = z
  .strictObject({
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string().regex(VARIABLE, 'is not a name for an environment variable'), z.string()).optional(),
    cwd: z.string().min(1).optional(),
    url: z.string().optional(),
    headers: z.record(z.string().regex(HEADER, 'is not a name for a header'), z.string()).optional(),
    oauth: oauthSchema.optional(),
    /** The lowest tier that may use its tools. A server can reach files and accounts of the bot's owner, so the default is the owner. */
    tier: z.enum(TIERS).default('botOwner'),
    /** The minimum risk of its tools. A server's own hints can only raise it, unless the owner trusts them: `hints`. */
    risk: z.enum(['hints', 'read', 'write', 'destructive']).default('write'),
    /** By the server's name of a tool. */
    tools: z
      .record(
        z.string(),
        z.strictObject({
          risk: z.enum(['read', 'write', 'destructive']).optional(),
          tier: z.enum(TIERS).optional(),
          enabled: z.boolean().optional(),
        }),
      )
      .default({}),
    timeoutMs: z.number().int().min(1_000).max(3_600_000).default(60_000),
    enabled: z.boolean().default(true),
  })
  .superRefine((server, context) => {
    const complain = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if ((server.command === undefined) === (server.url === undefined)) {
      complain([], t('needs either "command" (a program to start) or "url" (a server over HTTP)'));
    }
    const others = server.url === undefined ? (['headers', 'oauth'] as const) : (['args', 'env', 'cwd'] as const);
    for (const key of others) {
      const belongs = server.url === undefined ? 'url' : 'command';
      if (server[key] !== undefined) complain([key], t('goes with "{key}", which is not set', { key: belongs }));
    }
    if (server.url !== undefined && !isHttpUrl(server.url)) {
      complain(['url'], t('must be an http or https address without a user name, such as https://example.org/mcp'));
    }
    for (const key of ['env', 'headers'] as const) {
      for (const [name, value] of Object.entries(server[key] ?? {})) {
        if (SECRET.test(name) && !REFERENCE.test(value)) {
          complain(
            [key, name],
            t('looks like a secret: put it into the environment, and write {reference} here', {
              reference: `\${${variableFor(name)}}`,
            }),
          );
        }
      }
    }
  });
export type ServerSettings = z.output<typeof serverSchema>;

/** Only the bot's owner sets them: programs are started with the rights of the bot. */
export const GLOBAL_SETTINGS = z.object({
  servers: z
    .record(
      z.string().regex(NAME, 'must be lower case letters, digits, - and _, starting with a letter, at most 24'),
      serverSchema,
    )
    .default({})
    .superRefine((servers, context) => {
      for (const [name, other] of collisions(Object.keys(servers))) {
        const message = t('its tools could have the same names as those of "{other}": give one of them another name', {
          other,
        });
        context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .describe('MCP servers whose tools the bot gets, by name: { command, args, env, cwd } or { url, headers }'),
  listen: z
    .string()
    .trim()
    .refine((value) => parseListen(value) !== undefined, 'must be off, a port such as 8808, or host:port')
    .default('off')
    .describe('Where the tools of the bot are offered over MCP: off, a port (of this machine only), or host:port'),
  hosts: z
    .array(z.string().min(1))
    .default([])
    .describe('Further names by which the endpoint may be called, such as bot.example.org; this machine always may'),
  origins: z
    .array(z.string().min(1))
    .default([])
    .describe('Origins of web pages that may call the endpoint, such as https://app.example.org'),
  waitSeconds: z
    .number()
    .int()
    .min(0)
    .max(600)
    .default(50)
    .describe('How long a call over MCP waits for a confirmation before the answer is "not run yet"'),
  resultCharacters: z
    .number()
    .int()
    .min(1_000)
    .max(200_000)
    .default(RESULT_CHARACTERS)
    .describe(
      'The longest text of a result over MCP, in characters; a longer one is cut, and says how to get the rest',
    ),
  callsPerMinute: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(120)
    .describe('How many requests each token may make in a minute'),
  historyDays: z
    .number()
    .int()
    .min(0)
    .max(3_650)
    .default(0)
    .describe('How many days tool calls are kept in the history; 0 for as long as there is room'),
  historyMegabytes: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(500)
    .describe('The most that the history of tool calls may take, in megabytes: the oldest files are removed'),
});
export type GlobalSettings = z.output<typeof GLOBAL_SETTINGS>;

/** Loose, since only the settings contain the names that servers refer to. */
export const ENVIRONMENT = z.looseObject({
  TOOLS_PATH: z
    .string()
    .optional()
    .describe(
      'A folder in which tool calls are kept as files; without it, and with a database, they are with the data of the bot',
    ),
});

/** Pairs of servers whose tools can get the same name: `a` with `b_c`, and `a_b` with `c`. */
function collisions(names: readonly string[]): readonly (readonly [string, string])[] {
  const prefix = (name: string) => `${name.replaceAll('-', '_')}_`;
  return names.flatMap((name) =>
    names
      .filter((other) => other !== name && prefix(name).startsWith(prefix(other)))
      // Two names that differ only in `-` and `_` give one pair.
      .filter((other) => prefix(name) !== prefix(other) || name > other)
      .map((other) => [name, other] as const),
  );
}

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function variableFor(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
}
