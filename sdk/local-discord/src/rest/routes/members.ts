import { z } from 'zod';
import { findGuild, findMember, findRole } from '../../actions/find.js';
import { announceMember } from '../../actions/members.js';
import { editMember, kickMember } from '../../actions/moderate.js';
import { byName } from '../../gateway/member-chunks.js';
import { memberPayload } from '../../payload/member.js';
import { requireAboveRole } from '../../rules/hierarchy.js';
import { requireInGuild } from '../../rules/permissions.js';
import { compareIds } from '../../state/snowflake.js';
import type { RestContext } from '../context.js';
import { snowflake } from '../forms/snowflake.js';
import { numberIn } from '../query.js';
import { route } from '../route.js';

const memberForm = z.object({
  nick: z.string().max(32).nullish(),
  roles: z.array(snowflake).nullish(),
  communication_disabled_until: z.string().nullish(),
  mute: z.boolean().nullish(),
  deaf: z.boolean().nullish(),
});
const ownForm = z.object({ nick: z.string().max(32).nullish() });

function guildOf({ world, user, param }: RestContext) {
  return findGuild(world, param('guildId'), user);
}

function memberOf(context: RestContext) {
  return findMember(guildOf(context), context.param('userId'));
}

function changeRole(context: RestContext, change: 'add' | 'delete'): undefined {
  const guild = guildOf(context);
  const actor = requireInGuild(guild, context.user, context.world.clock.now(), 'ManageRoles');
  const role = findRole(guild, context.param('roleId'));
  requireAboveRole(actor, role);
  const member = memberOf(context);
  member.roles[change](role);
  announceMember(context.world, member);
}

export const memberRoutes = [
  route('GET', '/guilds/:guildId/members', (context) => {
    const after = context.query.get('after') ?? '0';
    const limit = numberIn(context.query, 'limit', 1, 1_000, 1);
    return [...guildOf(context).members.values()]
      .filter((member) => compareIds(member.user.id, after) > 0)
      .sort((a, b) => compareIds(a.user.id, b.user.id))
      .slice(0, limit)
      .map(memberPayload);
  }),
  route('GET', '/guilds/:guildId/members/search', (context) => {
    const limit = numberIn(context.query, 'limit', 1, 1_000, 1);
    return byName([...guildOf(context).members.values()], context.query.get('query') ?? '', limit).map(memberPayload);
  }),
  route('GET', '/guilds/:guildId/members/:userId', (context) => memberPayload(memberOf(context))),
  route('PATCH', '/guilds/:guildId/members/@me', (context) => {
    const { nick } = context.form(ownForm);
    const member = findMember(guildOf(context), context.user.id);
    editMember(context.world, context.user, member, { nick });
    return memberPayload(member);
  }),
  route('PATCH', '/guilds/:guildId/members/:userId', (context) => {
    const member = memberOf(context);
    const form = context.form(memberForm);
    const until = form.communication_disabled_until;
    editMember(context.world, context.user, member, {
      nick: form.nick,
      roles: form.roles?.map((id) => findRole(member.guild, id)),
      timedOutUntil: until === undefined || until === null ? until : Date.parse(until),
      mute: form.mute ?? undefined,
      deaf: form.deaf ?? undefined,
    });
    return memberPayload(member);
  }),
  route('PUT', '/guilds/:guildId/members/:userId/roles/:roleId', (context) => changeRole(context, 'add')),
  route('DELETE', '/guilds/:guildId/members/:userId/roles/:roleId', (context) => changeRole(context, 'delete')),
  route('DELETE', '/guilds/:guildId/members/:userId', (context) => {
    kickMember(context.world, context.user, memberOf(context));
    return undefined;
  }),
];
