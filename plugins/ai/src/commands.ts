import {
  type AccessPolicy,
  type Actor,
  type CommandContext,
  option,
  type Responders,
  replyPrivately,
  requestBodyText,
  type Suggestion,
  type Turn,
  t,
  textFile,
  translated,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Channel } from 'discord.js';
import type { ChannelQueue } from './channel-queue.js';
import type { AiContext } from './context.js';
import { type Arrival, type Route, routeOf, type Take } from './intake.js';

const USE_POLICY = { tier: 'admin', where: 'guild' } as const;
const USE_DESCRIPTION = 'Choose who answers in this server or channel';
const PROMPT_DESCRIPTION = 'Send you the prompt that the model would get here next, as a file';
const STATUS_DESCRIPTION = 'Show who answers here, and with which model';

/** Registers `!ai <text>`, with the subcommands `use`, `status` and `prompt`, which are separate slash commands. */
export function registerCommands(context: AiContext, queue: ChannelQueue, take: Take): void {
  const { command, services } = context;
  command({
    name: 'ai',
    description: 'Say something to the bot',
    help: [
      'You can also mention the bot, reply to it, or write it a direct message.',
      `\`ai use [responder] [--here]\` (admins; in a direct message everyone): ${USE_DESCRIPTION.toLowerCase()}; \`ai use ${DEFAULT_WORD}\` undoes it.`,
      `\`ai prompt\` (the bot's owner; admins where the owner allows it): ${PROMPT_DESCRIPTION.toLowerCase()}.`,
      `\`ai status\`: ${STATUS_DESCRIPTION.toLowerCase()}.`,
      'Anything else is said to the bot, also a sentence that starts with one of these words.',
    ].join('\n'),
    options: { text: option.rest().describe('What to say') },
    examples: ['ai What can you do?', 'ai status', 'ai use chat --here'],
    async run(ctx, { text }) {
      const sub = ctx.source === 'prefix' ? subcommandOf(text) : undefined;
      if (sub?.kind === 'status') return ctx.reply(await describeStatus(context, queue, ctx.actor, ctx.channel));
      if (sub?.kind === 'prompt') return sendPrompt(context, ctx);
      if (sub?.kind === 'use') return use(context, ctx, sub);
      return say(take, ctx, text);
    },
  });
  command({
    name: 'ai-use',
    description: USE_DESCRIPTION,
    surface: 'slash',
    access: USE_POLICY,
    options: {
      responder: option
        .suggested((typed, { guildId }) => suggestResponders(services.responders, guildId, typed))
        .optional()
        .describe(`The responder; "${DEFAULT_WORD}" undoes the choice`),
      here: z.boolean().default(false).describe('For this channel only'),
    },
    run: (ctx, choice) => use(context, ctx, choice),
  });
  command({
    name: 'ai-status',
    description: STATUS_DESCRIPTION,
    surface: 'slash',
    ephemeral: true,
    run: async (ctx) => ctx.reply(await describeStatus(context, queue, ctx.actor, ctx.channel)),
  });
  command({
    name: 'ai-prompt',
    description: PROMPT_DESCRIPTION,
    surface: 'slash',
    ephemeral: true,
    access: promptPolicy(context),
    run: (ctx) => sendPrompt(context, ctx),
  });
}

const promptPolicy = ({ settings }: AiContext): AccessPolicy => ({
  tier: 'admin',
  tierFrom: async () => ((await settings.global.get()).adminsSeePrompts ? 'admin' : 'botOwner'),
});

/**
 * Sends the prompt of a turn of the requester, without messages that the requester may not read. Others in the channel may read less, so only the requester
 * gets it.
 */
async function sendPrompt(context: AiContext, ctx: CommandContext): Promise<unknown> {
  const { settings, services } = context;
  const { channel, actor, user, member, guild, message, signal } = ctx;
  await ctx.requireAccess(promptPolicy(context), 'ai prompt');
  if (!channel.isSendable()) throw new UserError(t('I cannot write in this channel.'));
  if (message === null) await ctx.defer();
  const { responder } = await routeOf(settings, channel, actor.guildId);
  const turn: Turn = {
    id: services.random.id(),
    trigger: 'activate',
    text: '',
    earlier: [],
    actor,
    user,
    member,
    guild,
    channel,
    message,
    signal,
    reply: ctx.reply,
    sending: ctx.sending,
  };
  const prompt = await services.responders.prompt(responder, turn);
  if (prompt === undefined)
    throw new UserError(t('`{responder}` answers here, and has no prompt to show.', { responder }));
  const text = services.redaction.text(requestBodyText(prompt.body));
  const content = t('What `{model}` by `{provider}` ({mode}) would get here next, for you.', {
    model: prompt.model,
    provider: prompt.provider,
    mode: prompt.mode,
  });
  return replyPrivately(ctx, { content, files: [textFile('prompt.json', text)] }, 'ai-prompt');
}

async function use(context: AiContext, ctx: CommandContext, choice: Choice): Promise<unknown> {
  // In a direct message, every user may choose.
  await ctx.requireAccess(ctx.actor.guildId === null ? {} : USE_POLICY, 'ai use');
  return ctx.reply(await chooseResponder(context, ctx.actor, ctx.channel, choice));
}

async function say(take: Take, ctx: CommandContext, text: string): Promise<void> {
  const { channel, message } = ctx;
  if (!channel.isSendable()) throw new UserError(t('I cannot write in this channel.'));
  if (message === null) await ctx.defer();
  const { actor, user, member, guild, signal, sending } = ctx;
  // The reply to a turn is an answer unless the responder marks it as a notice.
  const reply: Arrival['reply'] = (body) =>
    ctx.reply({ notice: false, ...(typeof body === 'string' ? { content: body } : body) });
  await take({ trigger: 'command', text, actor, user, member, guild, channel, message, signal, reply, sending });
}

function suggestResponders(responders: Responders, guildId: string | null, typed: string): readonly Suggestion[] {
  return [...responders.list(guildId).map(({ name }) => name), DEFAULT_WORD]
    .filter((name) => name.includes(typed.toLowerCase()))
    .map((name) => ({ name, value: name }));
}

/** A subcommand in `!ai …`. */
type Subcommand = { readonly kind: 'status' | 'prompt' } | ({ readonly kind: 'use' } & Choice);

const USE = /^use(?:\s+(?!--)(\S+))?(?:\s+(--here))?$/;

/**
 * Parses `!ai status`, `!ai prompt` and `!ai use [responder] [--here]`. Only these exact forms, in lower case, with at most one word after `use`, are
 * subcommands: `!ai Use your head` and `!ai use the force` are messages to the bot.
 */
function subcommandOf(text: string): Subcommand | undefined {
  const words = text.trim();
  if (words === 'status' || words === 'prompt') return { kind: words };
  const match = USE.exec(words);
  return match === null ? undefined : { kind: 'use', responder: match[1], here: match[2] !== undefined };
}

/** The word that resets a choice to the channel's or the guild's default. */
const DEFAULT_WORD = 'default';

interface Choice {
  /** The name of a responder, or `default`; without it, the responders are listed. */
  readonly responder: string | undefined;
  /** Whether the choice is for this channel only. */
  readonly here: boolean;
}

/** Carries out `ai use`, and returns a sentence about the result. @throws UserError without such a responder here */
async function chooseResponder(context: AiContext, actor: Actor, channel: Channel, choice: Choice): Promise<string> {
  const { settings, services } = context;
  if (choice.responder === undefined) return listResponders(context, actor, channel);
  const known = services.responders.list(actor.guildId).map(({ name }) => name);
  const responder = choice.responder === DEFAULT_WORD ? undefined : choice.responder;
  if (responder !== undefined && !known.includes(responder)) {
    throw new UserError(
      t(
        'Nothing called "{responder}" can answer here: the name is misspelled, or its plugin is switched off or not installed. {choice}',
        { responder, choice: choiceOf(known) },
      ),
    );
  }
  if (actor.guildId === null) return chooseDirect(context, actor, channel, responder);
  const scope = choice.here ? settings.channel(channel.id) : undefined;
  if (responder === undefined)
    await (scope?.reset('channelResponder') ?? settings.guild(actor.guildId).reset('responder'));
  else await (scope?.set({ channelResponder: responder }) ?? settings.guild(actor.guildId).set({ responder }));
  const route = await routeOf(settings, channel, actor.guildId);
  if (responder !== undefined && responder !== route.responder) {
    return t('`{responder}` answers in this server now, but this channel has its own choice: `{chosen}`.', {
      responder,
      chosen: route.responder,
    });
  }
  return [
    choice.here
      ? t('`{responder}` answers in this channel now.', { responder: route.responder })
      : t('`{responder}` answers in this server now.', { responder: route.responder }),
    ...(await missingFor(context, actor, route)),
  ].join('\n');
}

/** A line about missing configuration that the chosen responder needs. */
async function missingFor(
  { services: { plugins, responders } }: AiContext,
  { guildId }: Actor,
  route: Route,
): Promise<readonly string[]> {
  const plugin = responders.list(guildId).find(({ name }) => name === route.responder)?.plugin;
  const need = plugin === undefined ? undefined : await plugins.setupNeed(guildId, plugin);
  return need === undefined
    ? []
    : [t('⚠️ It cannot answer yet: {problem} {remedy}', { problem: need.problem, remedy: need.remedy })];
}

/** Changes a user's choice for their own direct messages. */
async function chooseDirect(context: AiContext, actor: Actor, channel: Channel, responder: string | undefined) {
  const { settings } = context;
  const own = settings.user(actor.userId);
  await (responder === undefined ? own.reset('directResponder') : own.set({ directResponder: responder }));
  const route = await routeOf(settings, channel, null);
  return [
    t('`{responder}` answers your direct messages now.', { responder: route.responder }),
    ...(await missingFor(context, actor, route)),
  ].join('\n');
}

/** Carries out `ai status`. */
async function describeStatus(
  context: AiContext,
  queue: ChannelQueue,
  actor: Actor,
  channel: Channel,
): Promise<string> {
  const { settings, services } = context;
  const { responders, llm } = services;
  const route = await routeOf(settings, channel, actor.guildId);
  const info = responders.list(actor.guildId).find(({ name }) => name === route.responder);
  const model = llm?.current;
  const own = channel.isSendable()
    ? await responders.status(route.responder, {
        actor,
        channel,
        guild: 'guild' in channel ? channel.guild : null,
      })
    : undefined;
  const waiting = queue.waiting(channel.id);
  return [
    t('Responder: `{responder}` ({chosenBy}): {description}', {
      responder: route.responder,
      chosenBy: chosenBy(route.chosen),
      description: info === undefined ? t('not available here at the moment') : translated(info.description),
    }),
    ...(await missingFor(context, actor, route)),
    ...(own ?? [
      model === undefined
        ? t('Model: none is set up')
        : t('Model: `{model}` by `{provider}`', { model: model.model, provider: model.provider }),
    ]),
    ...(waiting > 0 ? [t('Waiting in this channel: {waiting}', { waiting })] : []),
  ].join('\n');
}

function chosenBy(layer: Route['chosen']): string {
  const layers = {
    channel: t('chosen for this channel'),
    guild: t('chosen for this server'),
    user: t('your choice'),
    default: t('the default'),
  };
  return layers[layer];
}

async function listResponders(
  { settings, services: { responders } }: AiContext,
  actor: Actor,
  channel: Channel,
): Promise<string> {
  const route = await routeOf(settings, channel, actor.guildId);
  const lines = responders
    .list(actor.guildId)
    .map(({ name, description }) =>
      name === route.responder
        ? t('• `{name}`: {description} (answers here)', { name, description: translated(description) })
        : `• \`${name}\`: ${translated(description)}`,
    );
  return [t('Responders that can answer here:'), ...lines].join('\n');
}

function choiceOf(names: readonly string[]): string {
  return names.length === 0
    ? t('Nothing else can answer here either.')
    : t('Choose from: {names}.', { names: names.join(', ') });
}
