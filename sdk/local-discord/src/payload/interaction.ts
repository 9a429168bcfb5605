import { InteractionContextType, Locale } from 'discord-api-types/v10';
import { channelPermissions } from '../rules/permissions.js';
import type { LocalInteraction } from '../state/interaction.js';
import { channelPayload } from './channel.js';
import { integrationOwners } from './interaction-metadata.js';
import { memberPayload } from './member.js';
import { userPayload } from './user.js';

const ATTACHMENT_LIMIT = 10 * 1024 * 1024;

/** What interactions of all kinds have in common: who, where, and with which permissions. */
export function interactionBase(interaction: LocalInteraction, now: number) {
  const { application, channel, user } = interaction;
  const { guild } = channel;
  const member = guild?.members.get(user.id);
  return {
    id: interaction.id,
    application_id: application.id,
    token: interaction.token,
    version: 1 as const,
    channel_id: channel.id,
    channel: channelPayload(channel, application.id),
    app_permissions: channelPermissions(channel, application.user, now).toString(),
    locale: Locale.EnglishUS,
    entitlements: [],
    authorizing_integration_owners: integrationOwners(interaction),
    attachment_size_limit: ATTACHMENT_LIMIT,
    context: guild ? InteractionContextType.Guild : InteractionContextType.BotDM,
    ...(guild && member
      ? {
          guild_id: guild.id,
          guild: { id: guild.id, locale: Locale.EnglishUS, features: [] },
          guild_locale: Locale.EnglishUS,
          member: { ...memberPayload(member), permissions: channelPermissions(channel, user, now).toString() },
        }
      : { user: userPayload(user) }),
  };
}
