import { type AccessRule, createAskFirst, EVERYTHING, plainText, subcommand, t } from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import type { AdminContext } from './context.js';

/** Whether the bot's owner has the bot ignore a whole server: by a rule for it, else by one for all servers. */
export function isRefused(rules: readonly AccessRule[], guildId: string): boolean {
  const about = rules.filter(({ target }) => target.kind === EVERYTHING.kind);
  const own = about.filter(({ subject }) => subject.kind === 'guild' && subject.id === guildId);
  const decisive = own.length > 0 ? own : about.filter(({ subject }) => subject.kind === 'guilds');
  return decisive.some(({ effect }) => effect === 'deny');
}

/** Leaves a server that the bot's owner refuses, when the bot is added to it; for the owner who wants that rather than silence. */
export function leaveRefusedServers({ on, settings, services, log }: AdminContext): void {
  on('guildCreate', async (guild) => {
    const { refusedServers } = await settings.global.get();
    if (refusedServers !== 'leave' || !isRefused(await services.accessRules.list(null), guild.id)) return;
    log.info('left a server that the rules of the owner refuse', { guildId: guild.id, name: guild.name });
    await guild.leave();
  });
}

/** `!access global leave`: leaves the servers that are refused, after a question. */
export function leaveCommand(context: AdminContext) {
  const { client, component, services } = context;
  const access = { tier: 'botOwner' } as const;
  const askFirst = createAskFirst({ component, ...services, name: 'refused-servers', access });
  const refused = async (): Promise<readonly Guild[]> => {
    const rules = await services.accessRules.list(null);
    return [...client.guilds.cache.values()].filter(({ id }) => isRefused(rules, id));
  };

  return subcommand({
    name: 'leave',
    description: 'Leave the servers that the rules of the bot’s owner refuse',
    async run(ctx) {
      const guilds = await refused();
      if (guilds.length === 0) return ctx.reply(t('No server is refused.'));
      return askFirst(ctx, {
        content: t('I leave {count, plural, one {one server} other {# servers}}: {names}', {
          count: guilds.length,
          names: guilds.map(({ name }) => plainText(name)).join(', '),
        }),
        yes: t('Leave'),
        async run() {
          let left = 0;
          for (const guild of await refused()) {
            await guild.leave();
            left += 1;
          }
          services.audit.record({ actor: ctx.actor, act: `access global leave ${left} (agreed)`, outcome: 'done' });
          return t('I have left {count, plural, one {one server} other {# servers}}.', { count: left });
        },
      });
    },
  });
}
