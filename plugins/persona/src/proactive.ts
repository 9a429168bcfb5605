import {
  type Clock,
  type Collection,
  createdAt,
  type Disposer,
  isDotMessage,
  isOwnMessage,
  isQuiet,
  type PersonaTrigger,
  plainText,
  type Registrar,
  repliesToOwn,
  type SilenceReasons,
  sanitizeName,
  t,
  z,
} from '@cinnabar/sdk';
import { type Guild, type GuildMember, type Message, MessageType, type SendableChannels } from 'discord.js';
import type { PersonaContext, PersonaSettings } from './context.js';
import type { ReflectionState } from './memory/types.js';
import { post } from './running/execute-action.js';
import { runPersona } from './running/run.js';
import { selfName } from './running/run-context.js';

/** Whether the persona is the responder of a channel, and may therefore act there unasked. */
async function answersIn(channel: SendableChannels, { frontDoor }: PersonaContext): Promise<boolean> {
  if (frontDoor === undefined || channel.isDMBased()) return false;
  return (await frontDoor.responderIn(channel.guild.id, channel.id)) === 'persona';
}

/** Runs a persona without a request: without tools and pings. Errors are only logged. */
async function runUnasked(
  trigger: PersonaTrigger,
  channel: SendableChannels,
  persona: PersonaContext,
  reflection?: ReflectionState,
): Promise<void> {
  const guildId = channel.isDMBased() ? null : channel.guild.id;
  const { signal } = persona;
  const unasked = { actor: undefined, tools: [], message: null, send: post(channel, persona) };
  try {
    await persona.languages.speak({ guildId }, () =>
      runPersona({ ...unasked, trigger, channel, guildId, reflection, signal }, persona),
    );
  } catch (error) {
    persona.log.info('a persona could not act of its own accord', {
      channelId: channel.id,
      trigger: trigger.type,
      error,
    });
  }
}

interface Watchers {
  readonly joins: Watcher;
  readonly callsByName: Watcher;
}

/** Interval of the checks of timers and reflections. */
export const TICK_MS = 60_000;

/** Number of guilds that are visited concurrently. */
const AT_ONCE = 4;

/** Checks the guilds of this process once. */
export async function tick(watchers: Watchers, persona: PersonaContext): Promise<void> {
  await overGuilds(watchers, persona, (guild, settings) => look(guild, settings, persona));
}

/** Subscribes to calls by name and to new members as the guilds' settings require. */
export const listen = (watchers: Watchers, persona: PersonaContext): Promise<void> =>
  overGuilds(watchers, persona, async () => undefined);

async function overGuilds(
  { joins, callsByName }: Watchers,
  persona: PersonaContext,
  visitGuild: (guild: Guild, settings: PersonaSettings) => Promise<void>,
): Promise<void> {
  // By default a persona does nothing unasked, so guilds without settings are skipped.
  const waiting = (await persona.guildsWithSettings()).flatMap((id) => persona.client.guilds.cache.get(id) ?? []);
  let welcomes = false;
  let answers = false;
  const work = async () => {
    for (let guild = waiting.pop(); guild !== undefined && !persona.signal.aborted; guild = waiting.pop()) {
      try {
        const settings = await persona.settingsFor(guild.id);
        welcomes ||= settings.onJoin;
        answers ||= settings.answersToName;
        await visitGuild(guild, settings);
      } catch (error) {
        persona.log.warn('a guild was passed over', { guildId: guild.id, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (persona.signal.aborted) return;
  await joins.watch(welcomes);
  await callsByName.watch(answers);
}

async function look(guild: Guild, settings: PersonaSettings, persona: PersonaContext): Promise<void> {
  if (!persona.plugins.enabledIn(guild.id, 'persona')) return;
  if (settings.home === undefined || (settings.timerMinutes === 0 && !settings.reflection)) return;
  const home = homeIn(guild, settings.home);
  if (home === undefined || (await isIgnored(guild.id, home, persona))) return;
  if (await answersIn(home, persona)) await visit(guild.id, home, settings, persona);
}

/** Whether the bot ignores messages in the channel; then it posts nothing unasked either. */
function isIgnored(guildId: string, home: SendableChannels, { access, client }: PersonaContext) {
  return access.ignores({ userId: client.user?.id ?? '', guildId, channelId: home.id });
}

async function visit(
  guildId: string,
  home: SendableChannels,
  settings: PersonaSettings,
  persona: PersonaContext,
): Promise<void> {
  const { allowance, clock, memories, store } = persona;
  if (
    settings.timerMinutes > 0 &&
    (await allowance.timerDue(guildId, settings)) &&
    (await allowance.take(guildId, settings))
  ) {
    const content = `The last time was ${settings.timerMinutes} minutes ago.`;
    return runUnasked({ type: 'timer', content, at: clock.now() }, home, persona);
  }
  if (!settings.reflection) return;
  const place = await store.memoryPlace({ guildId, channelId: home.id });
  const state = await memories.reflection(place);
  if (!state.due || !(await allowance.take(guildId, settings))) return;
  const content = `${state.evidence.length} memories to reflect on.`;
  await runUnasked({ type: 'self_reflection', content, at: clock.now() }, home, persona, state);
  // Also without a result, so that the sum of importance starts anew.
  if ((await memories.reflection(place)).due) await memories.reflect(place, []);
}

function homeIn(guild: Guild, channelId: string): SendableChannels | undefined {
  const channel = guild.channels.cache.get(channelId);
  return channel?.isSendable() === true ? channel : undefined;
}

const initiative = z.object({
  /** The day (UTC) that `used` counts. */
  day: z.string().default(''),
  used: z.number().default(0),
  /** When the timer last fired, in ms since the epoch; 0: never started. */
  timerAt: z.number().default(0),
});
type Initiative = z.output<typeof initiative>;

/** To be declared among the plugin's collections. */
export const initiatives = { scope: 'guild', version: 1, schema: initiative } as const;

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

export type Allowance = ReturnType<typeof createAllowance>;

/** Limits the unasked runs of a persona in a guild. */
export function createAllowance(collection: Collection<Initiative, 'guild'>, clock: Pick<Clock, 'now'>) {
  return {
    /** Counts one run against the day's budget; stored before the run. `false` when the budget is used up, or during quiet hours. */
    async take(guildId: string, settings: PersonaSettings): Promise<boolean> {
      if (isQuietNow(settings, clock.now())) return false;
      const today = new Date(clock.now()).toISOString().slice(0, 10);
      let taken = false;
      await collection.of(guildId).update((draft) => {
        const used = draft.day === today ? draft.used : 0;
        taken = used < settings.dayBudget;
        if (taken) Object.assign(draft, { day: today, used: used + 1 });
      });
      return taken;
    },
    /** Whether the timer has run out; then restarts it. The first call only starts it. */
    async timerDue(guildId: string, { timerMinutes }: PersonaSettings): Promise<boolean> {
      const { timerAt } = await collection.of(guildId).get();
      if (timerAt !== 0 && clock.now() - timerAt < timerMinutes * MINUTE_MS) return false;
      await collection.of(guildId).update((draft) => {
        draft.timerAt = clock.now();
      });
      return timerAt !== 0;
    },
  };
}

/** A listener that is registered only while a guild's settings need it. */
interface Watcher {
  watch(isWanted: boolean): Promise<void>;
}

function createWatcher(start: () => Disposer): Watcher {
  let stop: Disposer | undefined;
  return {
    async watch(isWanted) {
      if (isWanted === (stop !== undefined)) return;
      const before = stop;
      stop = isWanted ? start() : undefined;
      await before?.();
    },
  };
}

const REMEMBERED = 200;

/**
 * Watches for new members, whom the persona welcomes in the home channel. Discord sends an event, which requires a privileged intent that this plugin does not
 * ask for, and a message in the guild's system channel.
 */
export function noticeJoins({ on }: Pick<Registrar, 'on'>, persona: PersonaContext): Watcher {
  const noticed = new Set<string>();

  const notice = async (member: GuildMember) => {
    const { guild, user } = member;
    const key = `${guild.id}:${user.id}:${member.joinedTimestamp}`;
    if (user.bot || noticed.has(key)) return;
    noticed.add(key);
    for (const oldest of noticed.size > REMEMBERED ? [...noticed].slice(0, 1) : []) noticed.delete(oldest);
    const settings = await persona.settingsFor(guild.id);
    if (!settings.onJoin || settings.home === undefined) return;
    const home = guild.channels.cache.get(settings.home);
    if (home?.isSendable() !== true || !(await answersIn(home, persona))) return;
    if (!(await persona.allowance.take(guild.id, settings))) return;
    const name = sanitizeName(member.displayName) || sanitizeName(user.username) || 'someone';
    const contact = { userId: user.id, name };
    await runUnasked(
      { type: 'member_joined', content: `${name} has joined.`, at: persona.clock.now(), member: contact },
      home,
      persona,
    );
  };

  on('guildMemberAdd', notice);
  return createWatcher(() =>
    on('messageCreate', (message) =>
      message.type === MessageType.UserJoin && message.member !== null ? notice(message.member) : undefined,
    ),
  );
}

/** Runs the persona on reactions to its messages. */
export function noticeReactions({ on }: Pick<Registrar, 'on'>, persona: PersonaContext): void {
  on('messageReactionAdd', async ({ message, emoji }, user) => {
    const { guildId, channelId, channel } = message;
    if (guildId === null || user.bot === true || !channel.isSendable()) return;
    // Most reactions are on people's messages: for these, no settings are read.
    if (message.author != null && !isOwnMessage(message)) return;
    const settings = await persona.settingsFor(guildId);
    if (!settings.onReaction) return;
    const { lines } = await persona.conversations.read(channelId);
    const line = lines.find(({ userId, messageIds }) => userId === null && messageIds.includes(message.id));
    if (line === undefined || !(await answersIn(channel, persona))) return;
    if (!(await persona.allowance.take(guildId, settings))) return;
    const member = message.guild?.members.cache.get(user.id);
    const name = sanitizeName(member?.displayName ?? user.displayName ?? '') || 'someone';
    const trigger = {
      type: 'reaction',
      content: line.text,
      at: persona.clock.now(),
      by: { userId: user.id, name },
      emoji: (emoji.name ?? 'an emoji').slice(0, 40),
      messageId: message.id,
    } as const;
    await runUnasked(trigger, channel, persona);
  });
}

/** Answers messages that call the persona by its name, in guilds with that setting. */
export function answerToName({ on }: Pick<Registrar, 'on'>, persona: PersonaContext): Watcher {
  const look = async (message: Message) => {
    const { channel, client, guildId, author, content } = message;
    if (guildId === null || author.bot || message.webhookId !== null || !channel.isSendable()) return;
    if (isDotMessage(content) || message.mentions.users.has(client.user.id)) return;
    // A reply to the bot is answered as an ordinary message.
    if (repliesToOwn(message) || persona.commands.matches(message)) return;
    if (!(await persona.settingsFor(guildId)).answersToName || !(await answersIn(channel, persona))) return;
    const { state } = await persona.store.read({ guildId, channelId: channel.id });
    if (!callsBy(selfName(state.name, channel), content)) return;
    await persona.frontDoor?.take(message, { trigger: 'name', responder: 'persona' });
  };
  return createWatcher(() => on('messageCreate', look));
}

/** For `!why`: why the persona did not answer a message that does not address the bot, according to the current settings. */
export function silenceOf(persona: PersonaContext): SilenceReasons {
  return async (message) => {
    const { channel, client, guildId, author, content } = message;
    if (guildId === null || author.bot || !channel.isSendable() || !(await answersIn(channel, persona))) return [];
    if (message.mentions.users.has(client.user.id) || repliesToOwn(message)) return [];
    const settings = await persona.settingsFor(guildId);
    if (!settings.answersToName)
      return [t('A name alone is no reason to answer here: `answersToName` of `persona` is off.')];
    const { state } = await persona.store.read({ guildId, channelId: channel.id });
    const name = selfName(state.name, channel);
    const ofName = callsBy(name, content)
      ? t('It calls {name}, who takes that up by the settings of now.', { name: plainText(name) })
      : t('It does not call {name}: a name counts at the beginning, set off by a comma, or with a question.', {
          name: plainText(name),
        });
    return isQuietNow(settings, createdAt(message.id))
      ? [ofName, t('It was written in the quiet hours of `persona`, in which it does nothing of its own accord.')]
      : [ofName];
  };
}

/** Characters that separate a name from the words after it, in several scripts. */
const PAUSE = String.raw`\s*(?:[,:;!?…—–،؛؟，、：；！？।]|\s-|\.*\s*$)`;

/**
 * Whether a text addresses the persona, in any language: by its name set off at the beginning, after a word of greeting as well, or after a comma at the end;
 * or by a question that begins with the name. A name within a sentence does not address it.
 * @example callsBy('Judy', 'hallo Judy, bist du da?') // true
 */
function callsBy(name: string, text: string): boolean {
  const plain = sanitizeName(name).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (plain === '') return false;
  const atBeginning = new RegExp(String.raw`^\s*(?:[\p{L}\p{M}'’]+[\s,，、]+)?@?${plain}${PAUSE}`, 'iu');
  const asking = new RegExp(String.raw`^\s*@?${plain}\s[^]*[?？؟]\s*$`, 'iu');
  const atEnd = new RegExp(String.raw`[,，、]\s*@?${plain}\s*[.!?…。！？؟]*\s*$`, 'iu');
  return atBeginning.test(text) || asking.test(text) || atEnd.test(text);
}

/** Whether the guild's quiet hours allow no unasked runs now. */
export function isQuietNow(
  {
    quietFrom,
    quietTo,
    timeZone,
    utcOffset,
  }: Pick<PersonaSettings, 'quietFrom' | 'quietTo' | 'timeZone' | 'utcOffset'>,
  now: number,
): boolean {
  const quietHours = `${quietFrom}:00-${quietTo}:00`;
  if (timeZone !== undefined) return isQuiet(now, { quietHours, timeZone });
  return isQuiet(now + utcOffset * HOUR_MS, { quietHours, timeZone: 'UTC' });
}
