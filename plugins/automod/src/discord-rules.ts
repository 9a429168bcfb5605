import { createKeyedMutex, isTransient, isUnknown, refusalSentence, t } from '@cinnabar/sdk';
import {
  type AutoModerationActionExecution,
  AutoModerationActionType,
  AutoModerationRuleEventType,
  AutoModerationRuleTriggerType,
  type Guild,
  type GuildMember,
  type InviteGuild,
  type PermissionsString,
} from 'discord.js';
import { ACTIONS_OF, type Acts, nameOf } from './acts.js';
import type { AutomodContext, Values } from './context.js';

/** The filters that Discord supports as well. */
const MIRRORED = ['words', 'invites', 'mentions'] as const;
type Mirrored = (typeof MIRRORED)[number];

/** Discord's maximums (https://discord.com/developers/docs/resources/auto-moderation). */
const MOST_WORDS = 1_000;
/** Each entry is listed in two spellings; Discord accepts 100. */
const MOST_INVITES = 50;
const MOST_EXEMPT_ROLES = 20;
const MOST_EXEMPT_CHANNELS = 50;

/** A regular expression of Discord, which uses Rust's engine without backtracking. It is the same for all servers. */
const INVITE_PATTERN = '(?i)discord(?:\\.gg|(?:app)?\\.com/invite)/+[\\w-]{2,40}';
/** Members with one of these permissions count as moderators. */
const MODERATING: PermissionsString[] = ['ModerateMembers', 'KickMembers', 'BanMembers', 'ManageMessages'];
const SERVER_ID = /^\d{15,21}$/;

export type DiscordRules = ReturnType<typeof createDiscordRules>;

/**
 * Synchronises rules of Discord's AutoMod with the settings. A message that Discord blocks is sent to no client, so each message is handled once: a blocked one
 * arrives as an event, which leads to the warning, time-out or report; any other arrives as a message.
 */
export function createDiscordRules(
  { on, ready, client, collections, settings, settingsChanged, services, log }: AutomodContext,
  acts: Acts,
) {
  const mutex = createKeyedMutex();
  /** By guild: why its rules could not be written. */
  const problems = new Map<string, string>();

  /** Runs in the guild's language, because the names of rules are compared with those written before. */
  const sync = (guild: Guild): Promise<void> =>
    mutex.run(guild.id, () => services.languages.speak({ guildId: guild.id }, () => syncAll(guild)));

  const syncAll = async (guild: Guild): Promise<void> => {
    const values = await settings.guild(guild).get();
    problems.delete(guild.id);
    for (const filter of MIRRORED) {
      try {
        await syncOne(guild, filter, values);
      } catch (error) {
        const sentence = refusalSentence(error);
        if (sentence === undefined && !isTransient(error)) throw error;
        problems.set(guild.id, sentence ?? t('Discord could not be reached.'));
        log.warn('a rule of the AutoMod of Discord could not be written', { guildId: guild.id, filter, error });
      }
    }
  };

  const syncOne = async (guild: Guild, filter: Mirrored, values: Values): Promise<void> => {
    const me = guild.members.me ?? (await guild.members.fetchMe());
    const invites = filter === 'invites' && values.invites ? await ownInvites(guild, me, values) : undefined;
    const rule = values.discordRules
      ? ruleFor(filter, values, { invites, exemptRoles: await exemptIn(guild, values) })
      : undefined;
    const written = rule === undefined ? '' : JSON.stringify(rule);
    const { rules } = await collections.rules.of(guild).get();
    const known = rules.find((one) => one.filter === filter);
    if (known === undefined ? rule === undefined : known.written === written) return;
    // Without the permission, only the bot applies the filter.
    if (!me.permissions.has('ManageGuild')) return;
    const id = rule === undefined ? await removeRule(guild, known?.id) : await writeRule(guild, known?.id, rule);
    await collections.rules.of(guild).update((draft) => {
      const others = draft.rules.filter((one) => one.filter !== filter);
      draft.rules = id === undefined ? others : [...others, { filter, id, written }];
    });
  };

  /** Discord exempts members who manage the server; moderators have to be exempted by their roles. */
  const exemptIn = async (guild: Guild, { exemptRoles }: Values): Promise<readonly string[]> => {
    const tiers = await Promise.all((['mod', 'admin'] as const).map((tier) => services.tierRoles.list(guild.id, tier)));
    const moderating = guild.roles.cache.filter(
      ({ id, managed, permissions }) => id !== guild.id && !managed && permissions.any(MODERATING),
    );
    const all = [...exemptRoles, ...tiers.flat(), ...[...moderating.keys()].sort()];
    return [...new Set(all)].filter((id) => guild.roles.cache.has(id));
  };

  const removeRule = async (guild: Guild, id: string | undefined): Promise<undefined> => {
    if (id === undefined) return;
    await guild.autoModerationRules.delete(id).catch((error: unknown) => {
      if (!isUnknown(error)) throw error;
    });
  };

  const writeRule = async (guild: Guild, id: string | undefined, rule: Rule): Promise<string> => {
    if (id !== undefined) {
      try {
        return (await guild.autoModerationRules.edit(id, rule)).id;
      } catch (error) {
        // An admin has deleted the rule in Discord.
        if (!isUnknown(error)) throw error;
      }
    }
    // A crash may have prevented recording a created rule: its name and its creator, this bot, identify it.
    const all = await guild.autoModerationRules.fetch({ cache: false });
    const own = all.find(({ name, creatorId }) => name === rule.name && creatorId === client.user?.id);
    return (
      await (own === undefined ? guild.autoModerationRules.create(rule) : guild.autoModerationRules.edit(own.id, rule))
    ).id;
  };

  on('roleUpdate', async (before, { guild, permissions }) => {
    if (before.permissions.any(MODERATING) === permissions.any(MODERATING)) return;
    if ((await collections.rules.of(guild).get()).rules.length > 0) await sync(guild);
  });

  const onInvites = async (guild: Guild | InviteGuild | null) => {
    if (guild === null) return;
    const { rules } = await collections.rules.of(guild).get();
    const known = client.guilds.cache.get(guild.id);
    if (known !== undefined && rules.some(({ filter }) => filter === 'invites')) await sync(known);
  };
  on('inviteCreate', ({ guild }) => onInvites(guild));
  on('inviteDelete', ({ guild }) => onInvites(guild));

  settingsChanged(async ({ scope, of }) => {
    const guild = scope === 'guild' && of !== null ? client.guilds.cache.get(of) : undefined;
    if (guild !== undefined) await sync(guild);
  });
  ready(async () => {
    for await (const [guildId] of collections.rules.entries()) {
      const guild = client.guilds.cache.get(guildId);
      if (guild?.available === true) await sync(guild);
    }
  });

  on('autoModerationActionExecution', async (execution: AutoModerationActionExecution) => {
    // Discord sends one event for each action of a rule; only the one for the block is used.
    if (execution.action.type !== AutoModerationActionType.BlockMessage) return;
    const { guild, ruleId, userId, channelId, content, matchedContent, matchedKeyword } = execution;
    const { rules } = await collections.rules.of(guild).get();
    const rule = rules.find(({ id }) => id === ruleId);
    if (rule === undefined) return;
    const what = matchedKeyword ?? matchedContent ?? rule.filter;
    await acts.onStopped(guild, userId, channelId, { filter: rule.filter, what }, content ?? '');
  });

  return {
    sync,

    /** Describes the filters that Discord applies as well. */
    async statusOf(guild: Guild, values: Values): Promise<string> {
      // The bot may have got the permission since the last attempt.
      await sync(guild);
      if (!values.discordRules) return t('AutoMod of Discord: not used');
      const { rules } = await collections.rules.of(guild).get();
      const names = MIRRORED.filter((filter) => rules.some((one) => one.filter === filter)).map(nameOf);
      const problem = problems.get(guild.id);
      const me = guild.members.me;
      const lacks = me?.permissions.has('ManageGuild') === false;
      const list = names.length === 0 ? t('none') : names.join(', ');
      return [
        t('AutoMod of Discord stops before anyone sees them: {filters}. What passes it, and all else, I look at.', {
          filters: list,
        }),
        ...(lacks ? [t('⚠️ I cannot write rules there: I lack the permission Manage Server.')] : []),
        ...(problem === undefined ? [] : [`⚠️ ${problem}`]),
      ].join('\n');
    },
  };
}

/**
 * Codes of invites that Discord's rule has to allow. `undefined` when a rule would block too much: the bot gets no events about new invites to this server,
 * there are too many codes, or the settings allow servers, which a rule cannot express.
 */
async function ownInvites(
  guild: Guild,
  me: GuildMember,
  { allowedInvites }: Values,
): Promise<readonly string[] | undefined> {
  if (!me.permissions.has(['ManageGuild', 'ManageChannels']) || allowedInvites.some((one) => SERVER_ID.test(one)))
    return undefined;
  const own = [
    ...(await guild.invites.fetch({ cache: false })).keys(),
    ...(guild.vanityURLCode === null ? [] : [guild.vanityURLCode]),
  ];
  const codes = [...new Set([...own, ...allowedInvites])].sort();
  return codes.length > MOST_INVITES ? undefined : codes;
}

type Rule = NonNullable<ReturnType<typeof ruleFor>>;

/** Discord's rule for a filter; `undefined` when the filter is off, does not delete, or cannot be a Discord rule. */
function ruleFor(
  filter: Mirrored,
  values: Values,
  {
    invites,
    exemptRoles,
  }: { readonly invites: readonly string[] | undefined; readonly exemptRoles: readonly string[] },
) {
  const trigger = triggerOf(filter, values, invites);
  if (trigger === undefined || !values[ACTIONS_OF[filter]].includes('delete')) return undefined;
  return {
    name: `Cinnabar: ${filter}`,
    enabled: true,
    eventType: AutoModerationRuleEventType.MessageSend,
    ...trigger,
    actions: [{ type: AutoModerationActionType.BlockMessage }],
    exemptRoles: exemptRoles.slice(0, MOST_EXEMPT_ROLES),
    exemptChannels: values.exemptChannels.slice(0, MOST_EXEMPT_CHANNELS),
  };
}

function triggerOf(filter: Mirrored, values: Values, invites: readonly string[] | undefined) {
  switch (filter) {
    case 'words': {
      // Discord supports * only at the ends.
      const keywordFilter = values.words.filter((word) => !word.slice(1, -1).includes('*')).slice(0, MOST_WORDS);
      if (keywordFilter.length === 0) return undefined;
      return { triggerType: AutoModerationRuleTriggerType.Keyword, triggerMetadata: { keywordFilter } } as const;
    }
    case 'invites':
      if (invites === undefined) return undefined;
      return {
        triggerType: AutoModerationRuleTriggerType.Keyword,
        triggerMetadata: {
          regexPatterns: [INVITE_PATTERN],
          allowList: invites.flatMap((code) => [`*discord.gg/${code}*`, `*discord.com/invite/${code}*`]),
        },
      } as const;
    case 'mentions':
      if (values.mentions === 0) return undefined;
      return {
        triggerType: AutoModerationRuleTriggerType.MentionSpam,
        triggerMetadata: { mentionTotalLimit: values.mentions },
      } as const;
  }
}
