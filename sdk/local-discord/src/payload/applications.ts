import {
  type APIApplication,
  ApplicationFlags,
  TeamMemberMembershipState,
  TeamMemberRole,
} from 'discord-api-types/v10';
import type { LocalApplication, LocalTeam } from '../state/applications.js';
import { userPayload } from './users.js';

/** The response to `GET /applications/@me`: with the owner, or the team if there is one, and with fields that only Discord's description lists. */
export function applicationPayload(app: LocalApplication, guildCount: number) {
  return {
    ...documentedFields(app, guildCount),
    type: null,
    redirect_uris: [...app.redirectUris],
    approximate_user_authorization_count: 0,
    explicit_content_filter: 0,
    eligible_oauth2_scopes: ['bot', 'applications.commands'],
  };
}

function documentedFields(app: LocalApplication, guildCount: number): APIApplication {
  const flags = applicationFlags(app);
  return {
    id: app.id,
    name: app.name,
    icon: null,
    description: app.description,
    summary: '',
    bot_public: true,
    bot_require_code_grant: false,
    bot: userPayload(app.user),
    owner: userPayload(app.owner),
    team: app.team ? teamPayload(app.team) : null,
    verify_key: '0'.repeat(64),
    flags,
    flags_new: String(flags),
    approximate_guild_count: guildCount,
    approximate_user_install_count: 0,
    interactions_endpoint_url: null,
    role_connections_verification_url: null,
  };
}

export function applicationFlags(app: LocalApplication): ApplicationFlags {
  let flags: ApplicationFlags = 0 & ApplicationFlags.Embedded;
  if (app.privilegedIntents.has('GuildPresences')) flags |= ApplicationFlags.GatewayPresenceLimited;
  if (app.privilegedIntents.has('GuildMembers')) flags |= ApplicationFlags.GatewayGuildMembersLimited;
  if (app.privilegedIntents.has('MessageContent')) flags |= ApplicationFlags.GatewayMessageContentLimited;
  return flags;
}

/** The permissions of a team member, which Discord replaced by roles and always sends as this. */
const EVERYTHING: ['*'] = ['*'];

function teamPayload(team: LocalTeam) {
  const [owner] = team.members;
  return {
    id: team.id,
    name: team.name,
    icon: null,
    owner_user_id: owner?.id ?? '0',
    members: team.members.map((user) => ({
      membership_state: TeamMemberMembershipState.Accepted,
      permissions: EVERYTHING,
      team_id: team.id,
      user: userPayload(user),
      role: TeamMemberRole.Developer,
    })),
  };
}
