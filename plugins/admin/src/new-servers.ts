import { operatorSentenceOf, option, subcommand, t, UserError, z } from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import { attachedText } from './attached-text.js';
import type { AdminContext } from './context.js';
import { guildOf } from './format.js';

/** What a server gets that the bot is added to: a file as `!server export` writes it. */
export const newServers = {
  scope: 'global',
  version: 1,
  schema: z.object({
    file: z.string(),
    /** Since when it holds: servers that the bot was in before are not new. */
    since: z.number().default(Number.MAX_SAFE_INTEGER),
  }),
} as const;
/** Servers that have had it: what their admins chose since then stays when the bot comes back. */
export const begunServers = { scope: 'guild', version: 1, schema: z.object({ at: z.number() }) } as const;

const TEMPLATE = 'template';

/** `!newservers …`: with which choices the bot begins in a server that it is added to. */
export function registerNewServers(context: AdminContext): void {
  const { client, group, on, ready, collections, services, log } = context;
  const template = collections.newServers.of(TEMPLATE);

  const begin = async (guild: Guild): Promise<void> => {
    const known = await template.find();
    if (known === undefined || !(await isNew(context, guild))) return;
    // First: a server that could not take it is not tried again each time that the bot is added.
    await collections.begunServers.of(guild.id).set({ at: services.clock.now() });
    const actor = { userId: guild.client.user.id, guildId: guild.id, channelId: guild.id };
    try {
      const plan = await services.guildFiles.plan(guild.id, known.file, actor, { template: true });
      // What was chosen there before, when the bot was there an earlier time, stays.
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
  // Those that it was added to while it did not run.
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
          // What cannot be used here cannot be used there.
          await services.guildFiles.plan(guildOf(ctx.actor), text, ctx.actor, { template: true });
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

/** Whether the bot has never been in a server, as far as anything that was chosen there tells. */
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
