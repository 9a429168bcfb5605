import {
  type Access,
  type Clock,
  type CommandContext,
  option,
  type Subgroup,
  subcommand,
  subgroup,
  type Tools,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Grant, Tokens } from '../tokens/store.js';

interface Parts {
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
export function tokenCommands(parts: Parts): Subgroup {
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

async function create(context: CommandContext, parts: Parts, { userId, lifeMs, tools }: Wanted): Promise<unknown> {
  const { actor } = context;
  // Whoever holds the token is that member to every check: nobody may make an admin of themselves.
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
  // A reply to a typed command is seen by everybody in the channel.
  if (context.source === 'slash') return context.reply({ content: text, ephemeral: true });
  try {
    await context.user.send(text);
  } catch (error) {
    await parts.tokens.revoke(actor.guildId, grant.id);
    throw new UserError(`I cannot write to you in private: allow direct messages, or use \`/${context.name}\`.`, {
      cause: error,
    });
  }
  return context.reply('I have sent you the token in a direct message.');
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
