import {
  type AccessRule,
  createAskFirst,
  EVERYTHING,
  operatorSentenceOf,
  option,
  plainText,
  requireGuildId,
  subcommand,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import { missingNote } from './all-servers.js';
import type { AdminContext } from './context.js';
import { attachedText } from './server-commands.js';

/** The configuration for new servers: a file as `!server export` writes it. */
export const newServers = {
  scope: 'global',
  version: 1,
  schema: z.object({
    file: z.string(),
    /** The time at which it was set: servers that the bot joined before are not new. */
    since: z.number().default(Number.MAX_SAFE_INTEGER),
  }),
} as const;
/** Servers that have received it, so that later choices of their admins are kept when the bot is added again. */
export const begunServers = { scope: 'guild', version: 1, schema: z.object({ at: z.number() }) } as const;

const TEMPLATE = 'template';

/** `!newservers …`: the configuration with which the bot starts in a new server. */
export function registerNewServers(context: AdminContext): void {
  const { client, group, on, ready, collections, services, log } = context;
  const template = collections.newServers.of(TEMPLATE);

  const begin = async (guild: Guild): Promise<void> => {
    const known = await template.find();
    if (known === undefined || !(await isNew(context, guild))) return;
    // Recorded first, so that a failure is not repeated each time the bot is added.
    await collections.begunServers.of(guild.id).set({ at: services.clock.now() });
    const actor = { userId: guild.client.user.id, guildId: guild.id, channelId: guild.id };
    try {
      const plan = await services.guildFiles.plan(guild.id, known.file, actor, { template: true });
      // Only if the file changes no choice from an earlier stay of the bot in the server.
      if (plan.differences.length > 0 && plan.differences.every(({ kind }) => kind === 'added'))
        await plan.apply(actor);
    } catch (error) {
      log.warn('a new server could not be set up from the template of the owner', { guildId: guild.id, error });
      services.notices.alert({
        kind: 'template-unusable',
        text: () =>
          t('A new server could not be set up as your file says: {detail}', {
            detail: operatorSentenceOf(error) ?? t('the log has the reason'),
          }),
        remedy: () => t('Look at `newservers show`, and give another file with `newservers set`.'),
      });
    }
  };
  on('guildCreate', begin);
  // For servers that the bot was added to while it did not run.
  ready(async () => {
    const known = await template.find();
    if (known === undefined) return;
    for (const guild of client.guilds.cache.values())
      if (guild.available && guild.joinedTimestamp >= known.since) await begin(guild);
  });

  group({
    name: 'newservers',
    description: 'With which choices the bot begins in servers that it is added to',
    help: 'A file as `server export` writes it: plugins, prefixes, tool policies and settings. Give it only what makes sense in every server: no roles, members or channels.',
    access: { tier: 'botOwner', where: 'guild' },
    commands: [
      subcommand({
        name: 'set',
        description: 'Set up new servers as a file says',
        options: { file: option.attachment().describe('As `server export` writes it') },
        async run(ctx, { file }) {
          const text = await attachedText(context, file);
          // A template that is invalid for this server is invalid for others, too.
          await services.guildFiles.plan(requireGuildId(ctx.actor), text, ctx.actor, { template: true });
          await template.set({ file: text, since: services.clock.now() });
          await ctx.reply(t('Servers that I am added to from now on begin as this file says.'));
        },
      }),
      subcommand({
        name: 'show',
        reads: true,
        description: 'Get the file that new servers are set up with',
        async run(ctx) {
          const known = await template.find();
          if (known === undefined) throw new UserError(t('New servers begin with the defaults of the plugins.'));
          await ctx.reply({
            content: t('New servers begin as this file says.'),
            files: [{ attachment: Buffer.from(known.file), name: 'new-servers.yaml' }],
          });
        },
      }),
      subcommand({
        name: 'clear',
        description: 'Let new servers begin with the defaults again',
        async run(ctx) {
          await template.delete();
          await ctx.reply(t('New servers begin with the defaults of the plugins.'));
        },
      }),
    ],
  });
}

/** Whether the bot was never in a server before, judging by stored choices. */
async function isNew({ collections, services }: AdminContext, { id }: Guild): Promise<boolean> {
  if ((await collections.begunServers.of(id).find()) !== undefined) return false;
  const { accessRules, policies, tierRoles } = services;
  const [rules, chosen, mods, admins] = await Promise.all([
    accessRules.list(id),
    policies.list(id),
    tierRoles.list(id, 'mod'),
    tierRoles.list(id, 'admin'),
  ]);
  return rules.length + Object.keys(chosen).length + mods.length + admins.length === 0;
}

const LONGEST_LEAVING_MS = 10 * 60_000;

/** Whether the rules of the bot's owner ignore a whole server: by a rule for it, otherwise by one for all servers. */
function isRefused(rules: readonly AccessRule[], guildId: string): boolean {
  const about = rules.filter(({ target }) => target.kind === EVERYTHING.kind);
  const own = about.filter(({ subject }) => subject.kind === 'guild' && subject.id === guildId);
  const decisive = own.length > 0 ? own : about.filter(({ subject }) => subject.kind === 'guilds');
  return decisive.some(({ effect }) => effect === 'deny');
}

/** Leaves an ignored server when the bot is added to it, if the owner has enabled that; otherwise the bot stays and does not answer there. */
export function leaveRefusedServers({ on, settings, services, log }: AdminContext): void {
  on('guildCreate', async (guild) => {
    const { refusedServers } = await settings.global.get();
    if (refusedServers !== 'leave' || !isRefused(await services.accessRules.list(null), guild.id)) return;
    log.info('left a server that the rules of the owner refuse', { guildId: guild.id, name: guild.name });
    await guild.leave();
  });
}

/** `!access global leave`: leaves the ignored servers, after a confirmation. */
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
