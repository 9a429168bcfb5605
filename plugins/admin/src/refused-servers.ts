import { type AccessRule, createAskFirst, EVERYTHING, plainText, subcommand, t, z } from '@cinnabar/sdk';
import { missingNote } from './all-servers.js';
import type { AdminContext } from './context.js';

const LONGEST_LEAVING_MS = 10 * 60_000;

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
  const { client, component, question, services } = context;
  const access = { tier: 'botOwner' } as const;
  const askFirst = createAskFirst({ component, ...services, name: 'refused-servers', access });
  const refused = async () => {
    const rules = await services.accessRules.list(null);
    return [...client.guilds.cache.values()].filter(({ id }) => isRefused(rules, id));
  };
  const listing = question({
    name: 'refused-servers',
    input: z.object({}),
    answer: z.array(z.string()),
    run: async () => (await refused()).map(({ name }) => name),
  });
  const leaving = question({
    name: 'leave-refused-servers',
    input: z.object({}),
    answer: z.number(),
    deadlineMs: LONGEST_LEAVING_MS,
    async run() {
      let left = 0;
      for (const guild of await refused()) {
        await guild.leave();
        left += 1;
      }
      return left;
    },
  });

  return subcommand({
    name: 'leave',
    description: 'Leave the servers that the rules of the bot’s owner refuse',
    async run(ctx) {
      const { answers, missing } = await listing.everywhere({});
      const names = answers.flat();
      if (names.length === 0) {
        await ctx.reply([t('No server is refused.'), ...missingNote({ missing })].join('\n'));
        return;
      }
      await askFirst(ctx, {
        content: [
          t('I leave {count, plural, one {one server} other {# servers}}: {names}', {
            count: names.length,
            names: names.map((name) => plainText(name)).join(', '),
          }),
          ...missingNote({ missing }),
        ].join('\n'),
        yes: t('Leave'),
        async run() {
          const done = await leaving.everywhere({});
          const left = done.answers.reduce((sum, one) => sum + one, 0);
          services.audit.record({ actor: ctx.actor, act: `access global leave ${left} (agreed)`, outcome: 'done' });
          return [
            t('I have left {count, plural, one {one server} other {# servers}}.', { count: left }),
            ...missingNote(done),
          ].join('\n');
        },
      });
    },
  });
}
