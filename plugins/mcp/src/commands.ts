import {
  type Access,
  type Clock,
  type CommandContext,
  option,
  plainText,
  replyPrivately,
  type Subcommand,
  type Subgroup,
  subcommand,
  subgroup,
  type Tools,
  t,
  translated,
  UserError,
  visible,
  z,
} from '@cinnabar/sdk';
import type { ServerAdministration, ServerReport } from './servers/administration.js';
import type { Grant, Tokens } from './tokens/tokens.js';

interface Dependencies {
  readonly servers: ServerAdministration;
  /** The address of the endpoint for the bot's own tools; `undefined` while there is none. */
  readonly url: () => string | undefined;
}

/** `!mcp list`, `!mcp tools` and `!mcp restart`, for the owner of the bot. */
export function serverCommands({ servers, url }: Dependencies): readonly Subcommand[] {
  const access = { tier: 'botOwner' } as const;
  const serverName = () =>
    option.suggested((typed) =>
      servers.names.filter((name) => name.startsWith(typed)).map((name) => ({ name, value: name })),
    );
  return [
    subcommand({
      name: 'list',
      reads: true,
      description: 'The MCP servers, whether they run, and where the own tools are offered',
      access,
      ephemeral: true,
      async run(context) {
        const lines = (await servers.report()).map((one) => `• ${serverLine(one)}`);
        const own = url();
        return context.reply(
          [
            lines.length === 0
              ? t('No MCP server is configured.')
              : t('**MCP servers** ({count})', { count: lines.length }),
            ...lines,
            own === undefined
              ? t('The own tools are not offered over MCP.')
              : t('The own tools are offered at <{address}>.', { address: own }),
          ].join('\n'),
        );
      },
    }),
    subcommand({
      name: 'tools',
      description: 'The tools of MCP servers, by the name that they have here',
      access,
      ephemeral: true,
      options: { server: serverName().optional().describe('Only those of this server') },
      async run(context, { server }) {
        await context.defer();
        const all = await servers.settledReport();
        const wanted = all.filter(({ name }) => server === undefined || name === server);
        const lines = wanted.flatMap(({ name, tools, pending }) => [
          `**${name}** (${tools.length})`,
          ...tools.map((tool) => `• \`${tool.name}\` (${tool.risk}): ${firstLine(tool.description)}`),
          ...pending.map((tool) =>
            t('• not offered, changed or new: `{tool}`: {description}', {
              tool: inert(tool.name),
              description: firstLine(tool.description),
            }),
          ),
        ]);
        return context.reply(lines.length === 0 ? t('There is no such server.') : lines.join('\n'));
      },
    }),
    subcommand({
      name: 'accept',
      description: 'Accept the tools that an MCP server has changed or added',
      access,
      options: { server: serverName().describe('Its name in the configuration') },
      async run(context, { server }) {
        await context.defer();
        const { name, tools } = await servers.accept(server);
        return context.reply(
          t('`{name}` offers {count, plural, one {# tool} other {# tools}} now.', { name, count: tools.length }),
        );
      },
    }),
    subcommand({
      name: 'restart',
      description: 'Stop an MCP server, start it again, and read its tools anew',
      access,
      options: { server: serverName().describe('Its name in the configuration') },
      async run(context, { server }) {
        await context.defer();
        const { name, tools } = await servers.restart(server);
        return context.reply(
          t('`{name}` is running, with {count, plural, one {# tool} other {# tools}}.', { name, count: tools.length }),
        );
      },
    }),
  ];
}

function serverLine({ name, where, tier, state, problem, retryMs, tools }: ServerReport): string {
  const why = problem === undefined ? '' : `: ${inert(problem)}`;
  const known = t('{count, plural, one {# tool} other {# tools}}, for {tier}', {
    count: tools.length,
    tier,
  });
  const server = `\`${name}\` (${inert(where)}) ${translated(state)}${why}`;
  return retryMs === undefined
    ? `${server}; ${known}`
    : t('{server}, next try in {seconds} s; {known}', {
        server,
        seconds: Math.ceil(retryMs / 1000),
        known,
      });
}

const LONGEST_LINE = 120;

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return inert(line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line);
}

interface TokenDependencies {
  readonly tokens: Tokens;
  readonly access: Access;
  readonly tools: Tools;
  readonly clock: Clock;
  readonly url: () => string | undefined;
  /** Ends the sessions of a token. */
  readonly onRevoked: (grantId: string) => Promise<void>;
}

const DAY_MS = 24 * 60 * 60_000;
const DEFAULT_LIFE_MS = 90 * DAY_MS;
const LONGEST_LIFE_MS = 366 * DAY_MS;

/** `!mcp token …`: tokens with which a program acts as one member, in one channel. */
export function tokenCommands(parts: TokenDependencies): Subgroup {
  const { tokens, onRevoked } = parts;
  return subgroup({
    name: 'token',
    description: 'Tokens for programs that use the tools over MCP',
    access: { tier: 'admin', where: 'guild' },
    commands: [
      subcommand({
        name: 'create',
        description: 'Make a token that acts as you, or as another member',
        help: 'It acts in this channel: confirmations are asked for here. For another member only the owner of the bot can make one.',
        ephemeral: true,
        options: {
          member: option.member().optional().describe('The member as whom it acts; default: you'),
          expires: option.duration().optional().describe('When it ends, such as 30d; 90 days when left out'),
          tools: option
            .rest()
            .optional()
            .describe('Only these tools, by name; all that the member may use, when left out'),
        },
        examples: [
          'mcp token create',
          'mcp token create expires:7d',
          'mcp token create tools:view_party, add_party_character',
        ],
        run: (context, { member, expires, tools }) =>
          create(context, parts, { userId: member?.id ?? context.user.id, lifeMs: expires ?? DEFAULT_LIFE_MS, tools }),
      }),
      subcommand({
        name: 'list',
        reads: true,
        description: 'The tokens of this server, without what is secret',
        ephemeral: true,
        async run(context) {
          const grants = await tokens.list(context.actor.guildId);
          const lines = grants.map((grant) => `• ${describe(grant)}`);
          return context.reply([`**Tokens** (${lines.length})`, ...lines].join('\n'));
        },
      }),
      subcommand({
        name: 'revoke',
        description: 'End a token, and what is done with it right now',
        options: { id: z.string().min(1).describe('Its id, from the list') },
        async run(context, { id }) {
          if (!(await tokens.revoke(context.actor.guildId, id)))
            throw new UserError(t('There is no token of that id here.'));
          await onRevoked(id);
          return context.reply(t('The token is revoked.'));
        },
      }),
    ],
  });
}

interface Wanted {
  readonly userId: string;
  readonly lifeMs: number;
  readonly tools: string | undefined;
}

async function create(
  context: CommandContext,
  parts: TokenDependencies,
  { userId, lifeMs, tools }: Wanted,
): Promise<unknown> {
  const { actor } = context;
  // Every check treats the bearer of the token as that member, so members may issue tokens only for themselves.
  if (userId !== actor.userId && (await parts.access.tierOf(actor)) !== 'botOwner') {
    throw new UserError(t('Only the owner of the bot can make a token that acts as somebody else.'));
  }
  if (lifeMs < 60_000 || lifeMs > LONGEST_LIFE_MS) throw new UserError(t('A token lives for a minute to 366 days.'));
  const { grant, bearer } = await parts.tokens.create({
    actor: { ...actor, userId },
    tools: readTools(tools, parts.tools),
    createdBy: actor.userId,
    expiresAt: parts.clock.now() + lifeMs,
  });
  const url = parts.url();
  const text = [
    t('Token {token}', { token: describe(grant) }),
    `\`${bearer}\``,
    url === undefined
      ? t(
          'Nothing listens yet: the owner of the bot has to set `listen`. It is shown only now: keep it like a password.',
        )
      : t('For <{address}>. It is shown only now: keep it like a password.', { address: url }),
  ].join('\n');
  try {
    return await replyPrivately(context, { content: text });
  } catch (error) {
    if (error instanceof UserError) await parts.tokens.revoke(actor.guildId, grant.id);
    throw error;
  }
}

function readTools(text: string | undefined, tools: Tools): readonly string[] {
  const names = (text ?? '').split(/[\s,]+/).filter((name) => name !== '');
  const known = new Set(tools.list().map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new UserError(t('There is no tool called `{tool}`.', { tool: unknown.replaceAll('`', '') }));
  return names;
}

function describe({ id, actor, tools, expiresAt }: Grant): string {
  const values = {
    id,
    userId: actor.userId,
    channelId: actor.channelId,
    tools: tools.length === 0 ? t('every tool they may use') : tools.map((name) => `\`${name}\``).join(', '),
  };
  return expiresAt === undefined
    ? t('`{id}` acts as <@{userId}> in <#{channelId}>: {tools}', values)
    : t('`{id}` acts as <@{userId}> in <#{channelId}>: {tools}, until <t:{until}:d>', {
        ...values,
        until: Math.floor(expiresAt / 1000),
      });
}

/** Text from a server, displayed as plain text. */
function inert(text: string): string {
  return plainText(visible(text));
}
