import {
  type CommandScope,
  commandsIn,
  editCommand,
  overwriteCommands,
  upsertCommand,
} from '../../actions/commands.js';
import { findGuild } from '../../actions/find.js';
import { discordError } from '../../errors.js';
import type { RestContext } from '../context.js';
import { commandEditForm, commandForm, commandListForm } from '../forms/command.js';
import { Created, type Route, route } from '../route.js';

function scopeOf(context: RestContext): CommandScope {
  const { application, world, user, param } = context;
  if (param('applicationId') !== application.id) throw discordError('unknownApplication');
  const guildId = param('guildId');
  return guildId === '' ? { application } : { application, guildId: findGuild(world, guildId, user).id };
}

function commandOf(context: RestContext) {
  const command = commandsIn(scopeOf(context)).get(context.param('commandId'));
  if (!command) throw discordError('unknownCommand');
  return command;
}

function routesUnder(base: string): Route[] {
  return [
    route('GET', base, (context) => [...commandsIn(scopeOf(context)).values()]),
    route('POST', base, (context) => {
      const { command, created } = upsertCommand(context.world, scopeOf(context), context.form(commandForm));
      return created ? new Created(command) : command;
    }),
    route('PUT', base, (context) => overwriteCommands(context.world, scopeOf(context), context.form(commandListForm))),
    route('GET', `${base}/:commandId`, commandOf),
    route('PATCH', `${base}/:commandId`, (context) => {
      const changes = context.form(commandEditForm);
      return editCommand(context.world, scopeOf(context), context.param('commandId'), changes);
    }),
    route('DELETE', `${base}/:commandId`, (context) => {
      commandsIn(scopeOf(context)).delete(commandOf(context).id);
      return undefined;
    }),
  ];
}

/** Global commands and those of a guild; both work alike. */
export const commandRoutes = [
  ...routesUnder('/applications/:applicationId/commands'),
  ...routesUnder('/applications/:applicationId/guilds/:guildId/commands'),
  route('GET', '/applications/:applicationId/guilds/:guildId/commands/permissions', (context) => {
    scopeOf(context);
    return [];
  }),
];
