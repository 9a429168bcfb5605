import { z } from 'zod';
import { applicationPayload } from '../payload/applications.js';
import { userPayload } from '../payload/users.js';
import { openRoute, type RestContext, route } from '../rest/request.js';

function current({ world, application }: RestContext) {
  const guilds = [...world.guilds.values()].filter((guild) => guild.members.has(application.id));
  return applicationPayload(application, guilds.length);
}

const editForm = z.object({ description: z.string().max(400).optional() });

export const applicationRoutes = [
  route('GET', '/applications/@me', current),
  route('GET', '/oauth2/applications/@me', current),
  route('PATCH', '/applications/@me', (context) => {
    const { description } = context.form(editForm);
    if (description !== undefined) context.application.description = description;
    return current(context);
  }),
  route('GET', '/oauth2/@me', (context) => ({
    application: current(context),
    scopes: ['bot', 'applications.commands'],
    expires: new Date(context.world.clock.now() + 86_400_000).toISOString(),
    user: userPayload(context.user),
  })),
];

export const gatewayRoutes = [
  openRoute('GET', '/gateway', ({ world }) => ({ url: world.addresses.gateway })),
  route('GET', '/gateway/bot', ({ world, application }) => ({
    url: world.addresses.gateway,
    shards: world.shards,
    session_start_limit: world.sessionStarts.state(application.id),
  })),
];
