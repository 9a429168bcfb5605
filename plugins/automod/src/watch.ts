import { type Clock, isTransient, maxEntries, unlessUnreachable } from '@cinnabar/sdk';
import { type GuildMember, type Message, MessageType, type PartialMessage } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Acts } from './acts.js';
import type { AutomodContext, Values } from './context.js';
import { compileRules, fold, type Hit, invitesIn, type Looked, type Rules, wordsOf } from './rules.js';

const MINUTE_MS = 60_000;
/** How long the server of an invite is cached. */
const INVITE_KEPT_MS = 10 * MINUTE_MS;
const MOST_INVITES = 2_000;
/** Maximum number of invites looked up for a message; a message with more counts as advertising. */
const MOST_CODES = 5;
/** Maximum number of remembered messages with actions: Discord sends a message again when it adds a link's preview. */
const MOST_HANDLED = 1_000;
const SAID: ReadonlySet<MessageType> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ThreadStarterMessage,
]);

export type Watch = ReturnType<typeof createWatch>;

/** Checks messages, edits and names, and performs the actions of their guild's filters. */
export function createWatch(context: AutomodContext, acts: Acts) {
  const { on, client, settings, settingsChanged, services, log } = context;
  const spam = createSpamWatch(services.clock);
  const compiled = new Map<string, Rules>();
  const loading = new Map<string, Promise<Rules>>();
  const handled = new LRUCache<string, true>(maxEntries(MOST_HANDLED));
  const invites = new LRUCache<string, { readonly guildId: string | undefined; readonly at: number }>(
    maxEntries(MOST_INVITES),
  );

  const load = async (guildId: string): Promise<Rules> => {
    const rules = compileRules(await settings.guild(guildId).get());
    compiled.set(guildId, rules);
    return rules;
  };
  /** The settings of a guild, cached until they change. */
  const rulesOf = (guildId: string): Promise<Rules> => {
    const known = loading.get(guildId) ?? load(guildId).finally(() => loading.delete(guildId));
    loading.set(guildId, known);
    return known;
  };
  settingsChanged(async ({ scope, of }) => {
    if (scope !== 'guild' || of === null) return;
    compiled.delete(of);
    await loading.get(of);
    await load(of);
  });
  on('guildDelete', ({ id }) => void compiled.delete(id));

  const look = async (message: Message, rules: Rules, isNew: boolean): Promise<void> => {
    const looked = lookedAt(message);
    const { values } = rules;
    // Counted first: a message that is deleted for another reason also counts as spam.
    const spamHit =
      isNew && (values.repeats > 0 || values.rate > 0)
        ? spam.count(
            `${message.guildId}:${message.author.id}`,
            { id: message.id, channelId: message.channelId, content: looked.content },
            values,
          )
        : undefined;
    const hit =
      rules.check(looked) ??
      (values.invites ? await foreignInvite(looked.content, message.guildId, values.allowedInvites) : undefined) ??
      spamHit;
    if (hit === undefined || handled.has(message.id) || (await acts.isExempt(message, values))) return;
    handled.set(message.id, true);
    await acts.onMessage(message, hit, values, hit === spamHit ? (spamHit?.messages ?? []) : []);
  };

  const foreignInvite = async (content: string, guildId: string | null, allowed: readonly string[]) => {
    const codes = invitesIn(content);
    // Each look-up is a request to Discord.
    if (codes.length > MOST_CODES) return { filter: 'invites', what: codes.join(', ') } as const;
    for (const code of codes) {
      if (allowed.includes(code)) continue;
      const target = await guildOfInvite(code);
      // An invite that cannot be looked up may lead anywhere.
      if (target === undefined || (target !== guildId && !allowed.includes(target)))
        return { filter: 'invites', what: code } as const;
    }
    return undefined;
  };

  const guildOfInvite = async (code: string): Promise<string | undefined> => {
    const known = invites.get(code);
    if (known !== undefined && known.at > services.clock.now() - INVITE_KEPT_MS) return known.guildId;
    try {
      const { guild } = await client.fetchInvite(code);
      invites.set(code, { guildId: guild?.id, at: services.clock.now() });
      return guild?.id;
    } catch (error) {
      if (isTransient(error)) log.info('an invite could not be looked up', { error });
      else invites.set(code, { guildId: undefined, at: services.clock.now() });
      return undefined;
    }
  };

  const receive = (message: Message, isNew: boolean): Promise<void> | undefined => {
    const { guildId } = message;
    if (guildId === null || message.author.bot || message.webhookId !== null || !SAID.has(message.type))
      return undefined;
    const rules = compiled.get(guildId);
    if (rules === undefined)
      return rulesOf(guildId).then((loaded) => (loaded.isOn ? look(message, loaded, isNew) : undefined));
    return rules.isOn ? look(message, rules, isNew) : undefined;
  };

  // The filters also apply to members whom the bot ignores otherwise.
  on('messageCreate', (message) => receive(message, true), { hearsIgnored: true });
  on('messageUpdate', async (before, after) => {
    if (before.partial !== true && before.content === after.content) return;
    const rules = after.guildId === null ? undefined : compiled.get(after.guildId);
    if (rules?.isOn === false) return;
    const message = await whole(after);
    // `undefined` when the member has deleted the message meanwhile.
    if (message !== undefined) await receive(message, false);
  });

  const checkName = async (guildId: string, name: string) =>
    (compiled.get(guildId) ?? (await rulesOf(guildId))).checkName(name);
  const onMember = async (member: GuildMember): Promise<void> => {
    if (member.user.bot) return;
    const hit = await checkName(member.guild.id, member.displayName);
    if (hit !== undefined) await acts.onNickname(member, hit);
  };
  on('guildMemberAdd', onMember);
  on('guildMemberUpdate', async (before, after) => {
    if (before.partial || before.displayName !== after.displayName) await onMember(after);
  });
  on('threadCreate', async (thread, isNew) => {
    const hit = isNew ? await checkName(thread.guildId, thread.name) : undefined;
    if (hit !== undefined) await acts.onThread(thread, hit);
  });
  on('threadUpdate', async (before, thread) => {
    const hit = before.name === thread.name ? undefined : await checkName(thread.guildId, thread.name);
    if (hit !== undefined) await acts.onThread(thread, hit);
  });

  return {
    /** The filters of a guild. */
    rulesOf: async (guildId: string): Promise<Rules> => compiled.get(guildId) ?? rulesOf(guildId),

    /** The result of the filters for a text, for admins who test them. */
    async test(guildId: string, text: string) {
      const rules = compiled.get(guildId) ?? (await rulesOf(guildId));
      const hit = rules.check({ content: text, mentions: new Set(text.match(/<@[!&]?\d+>/g) ?? []).size });
      const [code] = rules.values.invites && hit === undefined ? invitesIn(text) : [];
      return hit ?? (code === undefined ? undefined : ({ filter: 'invites', what: code } as const));
    },
  };
}

function lookedAt(message: Message): Looked {
  const { mentions } = message;
  return { content: wordsOf(message), mentions: mentions.users.size + mentions.roles.size };
}

/** An edit of a message that is not cached may lack unchanged fields. */
function whole(message: Message | PartialMessage): Message | Promise<Message | undefined> {
  return message.partial ? unlessUnreachable(message.fetch()) : message;
}

const REPEAT_MS = 30_000;
const RATE_MS = 10_000;
/** Number of messages remembered for each member, and of members: the least recently active are dropped first. */
const MOST_MESSAGES = 60;
const MOST_MEMBERS = 10_000;

interface Recent {
  readonly id: string;
  readonly channelId: string;
  readonly text: string;
  readonly at: number;
}

interface SpamHit extends Hit {
  /** All messages of the flood, including the checked one. */
  readonly messages: readonly Pick<Recent, 'id' | 'channelId'>[];
}

/** Counts members' messages and repetitions, in memory, for half a minute. */
function createSpamWatch(clock: Clock) {
  const members = new Map<string, readonly Recent[]>();

  /** Ordered by last message: members without messages in the whole period are dropped. */
  const forgetSilent = (now: number) => {
    for (const [member, said] of members) {
      if (members.size <= MOST_MEMBERS && (said.at(-1)?.at ?? 0) > now - REPEAT_MS) return;
      members.delete(member);
    }
  };

  return {
    /** Counts a new message. Resets the counters of a member whose message violates a limit. */
    count(
      member: string,
      message: { readonly id: string; readonly channelId: string; readonly content: string },
      { repeats, rate }: Values,
    ): SpamHit | undefined {
      const at = clock.now();
      const text = fold(message.content);
      const recent = (members.get(member) ?? []).filter((one) => one.at > at - REPEAT_MS).slice(1 - MOST_MESSAGES);
      const all = [...recent, { id: message.id, channelId: message.channelId, text, at }];
      const same = repeats === 0 || text === '' ? [] : all.filter((one) => one.text === text);
      const fast = rate === 0 ? [] : all.filter((one) => one.at > at - RATE_MS);
      members.delete(member);
      const messages = repeats > 0 && same.length > repeats ? same : rate > 0 && fast.length > rate ? fast : undefined;
      if (messages !== undefined) return { filter: 'spam', what: String(messages.length), messages };
      members.set(member, all);
      forgetSilent(at);
      return undefined;
    },
  };
}
