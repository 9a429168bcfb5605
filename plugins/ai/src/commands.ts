import {
  type Access,
  CinnabarError,
  type CommandContext,
  option,
  type Registrar,
  type Responders,
  type Suggestion,
  UserError,
  z,
} from '@cinnabar/sdk';
import { type Choice, type Choosing, chooseResponder, DEFAULT_WORD, describeStatus } from './choosing.js';
import type { Arrival, Take } from './intake.js';
import { subcommandOf } from './subwords.js';

export interface CommandParts extends Choosing {
  readonly access: Access;
  readonly take: Take;
}

const USE_POLICY = { tier: 'admin', where: 'guild' } as const;
const USE_DESCRIPTION = 'Choose who answers in this server or channel';
const STATUS_DESCRIPTION = 'Show who answers here, and with which model';

/** `!ai <text>`, with `use` and `status` among its words; as slash commands these have names of their own. */
export function registerCommands({ command }: Pick<Registrar, 'command'>, parts: CommandParts): void {
  command({
    name: 'ai',
    description: 'Say something to the bot',
    help: [
      'You can also mention the bot, reply to it, or write it a direct message.',
      `\`ai use [responder] [--here]\` (admins; in a direct message everyone): ${USE_DESCRIPTION.toLowerCase()}; \`ai use ${DEFAULT_WORD}\` undoes it.`,
      `\`ai status\`: ${STATUS_DESCRIPTION.toLowerCase()}.`,
      'Anything else is said to the bot, also a sentence that starts with one of these words.',
    ].join('\n'),
    options: { text: option.rest().describe('What to say') },
    examples: ['ai What can you do?', 'ai status', 'ai use chat --here'],
    async run(ctx, { text }) {
      const sub = ctx.source === 'prefix' ? subcommandOf(text) : undefined;
      if (sub?.kind === 'status') return ctx.reply(await describeStatus(parts, ctx.actor, ctx.channel));
      if (sub?.kind === 'use') return use(parts, ctx, sub);
      return say(parts, ctx, text);
    },
  });
  command({
    name: 'ai-use',
    description: USE_DESCRIPTION,
    surface: 'slash',
    access: USE_POLICY,
    options: {
      responder: option
        .suggested((typed, { guildId }) => suggestResponders(parts.responders, guildId, typed))
        .optional()
        .describe(`The responder; "${DEFAULT_WORD}" undoes the choice`),
      here: z.boolean().default(false).describe('For this channel only'),
    },
    run: (ctx, choice) => use(parts, ctx, choice),
  });
  command({
    name: 'ai-status',
    description: STATUS_DESCRIPTION,
    surface: 'slash',
    ephemeral: true,
    run: async (ctx) => ctx.reply(await describeStatus(parts, ctx.actor, ctx.channel)),
  });
}

async function use(parts: CommandParts, ctx: CommandContext, choice: Choice): Promise<unknown> {
  // In a direct message it is one's own.
  const policy = ctx.actor.guildId === null ? {} : USE_POLICY;
  const subject = { kind: 'command', name: 'ai use', plugin: 'ai', policy } as const;
  const decision = await parts.access.decide(ctx.actor, subject);
  if (!decision.allowed) {
    const reasons = decision.reasons.filter(({ allowed }) => !allowed).map(({ text }) => text);
    throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: reasons.join('; ') });
  }
  return ctx.reply(await chooseResponder(parts, ctx.actor, ctx.channel, choice));
}

async function say(parts: CommandParts, ctx: CommandContext, text: string): Promise<void> {
  const { channel, message } = ctx;
  if (!channel.isSendable()) throw new UserError('I cannot write in this channel.');
  if (message === null) await ctx.defer();
  const { actor, user, member, guild, signal } = ctx;
  // What answers a turn is a mind's own word unless it says otherwise.
  const reply: Arrival['reply'] = (body) =>
    ctx.reply({ notice: false, ...(typeof body === 'string' ? { content: body } : body) });
  await parts.take({ trigger: 'command', text, actor, user, member, guild, channel, message, signal, reply });
}

function suggestResponders(responders: Responders, guildId: string | null, typed: string): readonly Suggestion[] {
  return [...responders.list(guildId).map(({ name }) => name), DEFAULT_WORD]
    .filter((name) => name.includes(typed.toLowerCase()))
    .map((name) => ({ name, value: name }));
}
