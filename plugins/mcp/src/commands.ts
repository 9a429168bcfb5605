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
  UserError,
  visible,
  z,
} from '@cinnabar/sdk';
import type { ServerReport, Servers } from './servers/servers.js';
import type { Grant, Tokens } from './tokens/tokens.js';

interface Parts {
  /** `undefined`: none is configured. */
  readonly servers: Servers | undefined;
  readonly clock: Clock;
  /** Where the bot's own tools are offered; `undefined`: nowhere. */
  readonly url: () => string | undefined;
}

/** `!mcp list`, `!mcp tools` and `!mcp restart`, for the owner of the bot. */
export function serverCommands({ servers, clock, url }: Parts): readonly Subcommand[] {
  const access = { tier: 'botOwner' } as const;
  const report = () => servers?.report() ?? [];
  const serverName = () =>
    option.suggested((typed) =>
      report()
        .filter(({ name }) => name.startsWith(typed))
        .map(({ name }) => ({ name, value: name })),
    );
  return [
    subcommand({
      name: 'list',
      description: 'The MCP servers, whether they run, and where the own tools are offered',
      access,
      ephemeral: true,
      run(context) {
        const lines = report().map((one) => `• ${serverLine(one, clock.now())}`);
        const own = url();
        return context.reply(
          [
            lines.length === 0 ? 'No MCP server is configured.' : `**MCP servers** (${lines.length})`,
            ...lines,
            own === undefined ? 'The own tools are not offered over MCP.' : `The own tools are offered at <${own}>.`,
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
        await servers?.settled();
        const wanted = report().filter(({ name }) => server === undefined || name === server);
        const lines = wanted.flatMap(({ name, tools, pending }) => [
          `**${name}** (${tools.size})`,
          ...[...tools].map(([host, { risk, description }]) => `• \`${host}\` (${risk}): ${firstLine(description)}`),
          ...pending.map(
            (tool) => `• not offered, changed or new: \`${inert(tool.name)}\`: ${firstLine(tool.description)}`,
          ),
        ]);
        return context.reply(lines.length === 0 ? 'There is no such server.' : lines.join('\n'));
      },
    }),
    subcommand({
      name: 'accept',
      description: 'Let in what an MCP server has changed or added',
      access,
      options: { server: serverName().describe('Its name in the configuration') },
      async run(context, { server }) {
        if (servers === undefined) throw new UserError('No MCP server is configured.');
        await context.defer();
        const { name, tools } = await servers.accept(server);
        return context.reply(`\`${name}\` offers ${tools.size} ${tools.size === 1 ? 'tool' : 'tools'} now.`);
      },
    }),
    subcommand({
      name: 'restart',
      description: 'Stop an MCP server, start it again, and read its tools anew',
      access,
      options: { server: serverName().describe('Its name in the configuration') },
      async run(context, { server }) {
        if (servers === undefined) throw new UserError('No MCP server is configured.');
        await context.defer();
        const { name, tools } = await servers.restart(server);
        return context.reply(`\`${name}\` is running, with ${tools.size} ${tools.size === 1 ? 'tool' : 'tools'}.`);
      },
    }),
  ];
}

function serverLine({ name, state, problem, retryAt, settings, tools }: ServerReport, now: number): string {
  const where = settings.url === undefined ? settings.command : new URL(settings.url).host;
  const again = retryAt === undefined ? '' : `, next try in ${Math.ceil((retryAt - now) / 1000)} s`;
  const why = problem === undefined ? '' : `: ${inert(problem)}`;
  const known = `${tools.size} ${tools.size === 1 ? 'tool' : 'tools'}, for ${settings.tier}`;
  return `\`${name}\` (${inert(where ?? '')}) ${state}${why}${again}; ${known}`;
}

const LONGEST_LINE = 120;

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return inert(line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line);
}

interface TokensParts {
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

/** `!mcp token …`: bearers with which a program acts as one member, in one channel. */
export function tokenCommands(parts: TokensParts): Subgroup {
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
          member: option.member().optional().describe('Whom it acts as; you, when left out'),
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
            throw new UserError('There is no token of that id here.');
          await onRevoked(id);
          return context.reply('The token is revoked.');
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
  parts: TokensParts,
  { userId, lifeMs, tools }: Wanted,
): Promise<unknown> {
  const { actor } = context;
  // The bearer of the token is that member to every check: no member may make an admin of themselves.
  if (userId !== actor.userId && (await parts.access.tierOf(actor)) !== 'botOwner') {
    throw new UserError('Only the owner of the bot can make a token that acts as somebody else.');
  }
  if (lifeMs < 60_000 || lifeMs > LONGEST_LIFE_MS) throw new UserError('A token lives for a minute to 366 days.');
  const { grant, bearer } = await parts.tokens.create({
    actor: { ...actor, userId },
    tools: readTools(tools, parts.tools),
    createdBy: actor.userId,
    expiresAt: parts.clock.now() + lifeMs,
  });
  const url = parts.url();
  const where = url === undefined ? 'Nothing listens yet: the owner of the bot has to set `listen`.' : `For <${url}>.`;
  const text = [
    `Token ${describe(grant)}`,
    `\`${bearer}\``,
    `${where} It is shown only now: keep it like a password.`,
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
  if (unknown !== undefined) throw new UserError(`There is no tool called \`${unknown.replaceAll('`', '')}\`.`);
  return names;
}

function describe({ id, actor, tools, expiresAt }: Grant): string {
  const which = tools.length === 0 ? 'every tool they may use' : tools.map((name) => `\`${name}\``).join(', ');
  const until = expiresAt === undefined ? '' : `, until <t:${Math.floor(expiresAt / 1000)}:d>`;
  return `\`${id}\` acts as <@${actor.userId}> in <#${actor.channelId}>: ${which}${until}`;
}

/** Text of a server, shown as it is and nothing else. */
function inert(text: string): string {
  return plainText(visible(text));
}
