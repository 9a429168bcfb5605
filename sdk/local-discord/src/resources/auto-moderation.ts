import {
  type APIAutoModerationRule,
  AutoModerationActionType,
  AutoModerationRuleEventType,
  AutoModerationRuleTriggerType,
  PermissionFlagsBits,
} from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError, invalidForm } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { snowflake } from '../rest/message-form.js';
import { type RestContext, route } from '../rest/request.js';
import { guildPermissions, requireInGuild } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalGuild } from '../state/guilds.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { guildOf } from './find.js';

/** Maximum number of a guild's rules by trigger type. https://discord.com/developers/docs/resources/auto-moderation */
const MOST_RULES: Readonly<Partial<Record<AutoModerationRuleTriggerType, number>>> = {
  [AutoModerationRuleTriggerType.Keyword]: 6,
  [AutoModerationRuleTriggerType.MentionSpam]: 1,
};

/**
 * Checks a member's new message with the rules of a guild. Bots, and members who manage the server, are exempt.
 * @throws 200000 when a rule blocks it; the bots that may manage the server are notified
 */
export function checkAutoModeration(world: World, user: LocalUser, channel: LocalChannel, content: string): void {
  const { guild } = channel;
  const member = guild?.members.get(user.id);
  if (!guild || !member || user.bot || guild.autoModeration.size === 0) return;
  const permissions = guildPermissions(member, world.clock.now());
  if (permissions & (PermissionFlagsBits.ManageGuild | PermissionFlagsBits.Administrator)) return;
  for (const rule of guild.autoModeration.values()) {
    const isExempt =
      rule.exempt_channels.includes(channel.id) || [...member.roles].some(({ id }) => rule.exempt_roles.includes(id));
    const matched = rule.enabled && !isExempt ? matchOf(rule, content) : undefined;
    if (matched === undefined) continue;
    for (const action of rule.actions) {
      broadcast(
        world,
        'AUTO_MODERATION_ACTION_EXECUTION',
        { guild, permission: 'ManageGuild' },
        {
          guild_id: guild.id,
          action,
          rule_id: rule.id,
          rule_trigger_type: rule.trigger_type,
          user_id: user.id,
          channel_id: channel.id,
          content,
          matched_keyword: matched,
          matched_content: matched,
        },
      );
    }
    if (rule.actions.some(({ type }) => type === AutoModerationActionType.BlockMessage))
      throw discordError('blockedByAutoMod');
  }
}

/** The part of a text that matches a rule; `undefined` if nothing matches. Regular expressions are not run. */
function matchOf(rule: APIAutoModerationRule, content: string): string | undefined {
  if (rule.trigger_type === AutoModerationRuleTriggerType.MentionSpam) {
    const mentions = new Set(content.match(/<@[!&]?\d+>/g));
    return mentions.size > (rule.trigger_metadata.mention_total_limit ?? Number.POSITIVE_INFINITY) ? '' : undefined;
  }
  return rule.trigger_metadata.keyword_filter?.find((keyword) =>
    hasKeyword(content.toLowerCase(), keyword.toLowerCase()),
  );
}

/** A keyword matches whole words; `*` at its ends also matches parts of words. */
function hasKeyword(text: string, keyword: string): boolean {
  const isOpenBefore = keyword.startsWith('*');
  const isOpenAfter = keyword.endsWith('*');
  const literal = keyword.replace(/^\*|\*$/g, '');
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1)) {
    const [before = '', after = ''] = [text[at - 1], text[at + literal.length]];
    if ((isOpenBefore || !/\w/.test(before)) && (isOpenAfter || !/\w/.test(after))) return true;
  }
  return false;
}

const metadata = z.object({
  keyword_filter: z.array(z.string().min(1).max(60)).max(1_000).nullish(),
  regex_patterns: z.array(z.string().min(1).max(260)).max(10).nullish(),
  allow_list: z.array(z.string().min(1).max(60)).max(100).nullish(),
  mention_total_limit: z.number().int().min(0).max(50).nullish(),
  mention_raid_protection_enabled: z.boolean().nullish(),
});
const fields = {
  name: z.string().max(100),
  event_type: z.literal(AutoModerationRuleEventType.MessageSend),
  trigger_metadata: metadata.nullish(),
  actions: z
    .array(z.object({ type: z.enum(AutoModerationActionType), metadata: z.looseObject({}).nullish() }))
    .min(1)
    .max(5),
  enabled: z.boolean().nullish(),
  exempt_roles: z.array(snowflake).max(20).nullish(),
  exempt_channels: z.array(snowflake).max(50).nullish(),
};
const createForm = z.object({
  ...fields,
  trigger_type: z.union([
    z.literal(AutoModerationRuleTriggerType.Keyword),
    z.literal(AutoModerationRuleTriggerType.MentionSpam),
  ]),
});
const editForm = z.object(fields).partial();

function managed(context: RestContext): LocalGuild {
  const guild = guildOf(context);
  requireInGuild(guild, context.user, context.world.clock.now(), 'ManageGuild');
  return guild;
}

function ruleOf(context: RestContext): { guild: LocalGuild; rule: APIAutoModerationRule } {
  const guild = managed(context);
  const rule = guild.autoModeration.get(context.param('ruleId'));
  if (!rule) throw discordError('unknownAutoModRule');
  return { guild, rule };
}

/** The metadata in Discord's responses: every list of the trigger type, empty if it was not given. */
function filled(
  type: AutoModerationRuleTriggerType,
  given: z.output<typeof metadata> | null | undefined,
): APIAutoModerationRule['trigger_metadata'] {
  if (type === AutoModerationRuleTriggerType.MentionSpam) {
    return {
      mention_total_limit: given?.mention_total_limit ?? 20,
      mention_raid_protection_enabled: given?.mention_raid_protection_enabled ?? false,
    };
  }
  return {
    keyword_filter: given?.keyword_filter ?? [],
    regex_patterns: given?.regex_patterns ?? [],
    allow_list: given?.allow_list ?? [],
  };
}

const filledActions = (actions: z.output<typeof fields.actions>): APIAutoModerationRule['actions'] =>
  actions.map(({ type }) => ({ type, metadata: {} }));

export const autoModerationRoutes = [
  route('GET', '/guilds/:guildId/auto-moderation/rules', (context) => [...managed(context).autoModeration.values()]),
  route('GET', '/guilds/:guildId/auto-moderation/rules/:ruleId', (context) => ruleOf(context).rule),
  route('POST', '/guilds/:guildId/auto-moderation/rules', (context) => {
    const guild = managed(context);
    const form = context.form(createForm);
    const same = [...guild.autoModeration.values()].filter(({ trigger_type: type }) => type === form.trigger_type);
    if (same.length >= (MOST_RULES[form.trigger_type] ?? 0)) {
      throw invalidForm({
        path: ['trigger_type'],
        code: 'AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED',
        message: 'Maximum number of rules of this type reached',
      });
    }
    const rule: APIAutoModerationRule = {
      id: context.world.nextId(),
      guild_id: guild.id,
      creator_id: context.user.id,
      name: form.name,
      event_type: form.event_type,
      trigger_type: form.trigger_type,
      trigger_metadata: filled(form.trigger_type, form.trigger_metadata),
      actions: filledActions(form.actions),
      enabled: form.enabled ?? false,
      exempt_roles: form.exempt_roles ?? [],
      exempt_channels: form.exempt_channels ?? [],
    };
    guild.autoModeration.set(rule.id, rule);
    return rule;
  }),
  route('PATCH', '/guilds/:guildId/auto-moderation/rules/:ruleId', (context) => {
    const { rule } = ruleOf(context);
    const form = context.form(editForm);
    rule.name = form.name ?? rule.name;
    rule.enabled = form.enabled ?? rule.enabled;
    rule.exempt_roles = form.exempt_roles ?? rule.exempt_roles;
    rule.exempt_channels = form.exempt_channels ?? rule.exempt_channels;
    if (form.actions) rule.actions = filledActions(form.actions);
    if (form.trigger_metadata) rule.trigger_metadata = filled(rule.trigger_type, form.trigger_metadata);
    return rule;
  }),
  route('DELETE', '/guilds/:guildId/auto-moderation/rules/:ruleId', (context) => {
    const { guild, rule } = ruleOf(context);
    guild.autoModeration.delete(rule.id);
    return undefined;
  }),
];
