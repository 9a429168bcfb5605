import {
  attachmentDownloads,
  type CommandContext,
  createAskFirst,
  downloadAttachment,
  type GuildFilePlan,
  lineOfDifference,
  option,
  plainText,
  requireGuildId,
  subcommand,
  t,
  UserError,
} from '@cinnabar/sdk';
import type { Attachment } from 'discord.js';
import type { AdminContext } from './context.js';

const ADMIN = { tier: 'admin', where: 'guild' } as const;
/** Below Discord's limit for a message, with space for the notes. */
const MOST_SHOWN = 1_400;

/** `!server …`: the whole configuration of this server as one file. */
export function registerServerCommands(context: AdminContext): void {
  const { group, component, services } = context;
  const { guildFiles } = services;
  const askFirst = createAskFirst({ component, ...services, name: 'server-apply', access: ADMIN });
  const file = option.attachment().describe('As `server export` writes it');

  const askAndApply = async (ctx: CommandContext, plan: GuildFilePlan) => {
    if (plan.differences.length === 0)
      return ctx.reply(t('There is nothing to change: everything is as the file says.'));
    return askFirst(ctx, {
      content: textOf(plan),
      yes: t('Apply it'),
      async run() {
        await plan.apply(ctx.actor);
        return t('Done: {count, plural, one {# change} other {# changes}}. `server undo` takes it back.', {
          count: plan.differences.length,
        });
      },
    });
  };

  group({
    name: 'server',
    description: 'Everything that is chosen for this server, as one file',
    help: [
      'Plugins, prefixes, roles, access rules, tool policies and settings. What a section of the file does not name goes back to the default;',
      'a section that the file does not have is left alone, and each plugin is a section of its own in settings and channels. Secrets are never in it.',
    ].join(' '),
    access: ADMIN,
    commands: [
      subcommand({
        name: 'export',
        reads: true,
        description: 'Get the choices of this server as a file',
        async run(ctx) {
          const text = await guildFiles.export(requireGuildId(ctx.actor));
          await ctx.reply({
            content: t('This is what is chosen for this server.'),
            files: [{ attachment: Buffer.from(text), name: 'server.yaml' }],
          });
        },
      }),
      subcommand({
        name: 'plan',
        reads: true,
        description: 'See what a file would change',
        options: { file },
        async run(ctx, options) {
          const plan = await guildFiles.plan(
            requireGuildId(ctx.actor),
            await attachedText(context, options.file),
            ctx.actor,
          );
          await ctx.reply(textOf(plan));
        },
      }),
      subcommand({
        name: 'apply',
        description: 'Apply a file to this server, after a question',
        options: { file },
        run: async (ctx, options) =>
          askAndApply(
            ctx,
            await guildFiles.plan(requireGuildId(ctx.actor), await attachedText(context, options.file), ctx.actor),
          ),
      }),
      subcommand({
        name: 'undo',
        description: 'Go back to before the file that was applied last',
        async run(ctx) {
          const plan = await guildFiles.planUndo(requireGuildId(ctx.actor));
          return plan === undefined ? ctx.reply(t('No file has been applied here.')) : askAndApply(ctx, plan);
        },
      }),
    ],
  });
}

function textOf({ differences, notes }: GuildFilePlan): string {
  if (differences.length === 0) return t('There is nothing to change: everything is as the file says.');
  const lines = differences.map((one) => plainText(lineOfDifference(one)));
  let length = 0;
  const shown = lines.filter((line) => {
    length += line.length + 1;
    return length <= MOST_SHOWN;
  });
  const more = lines.length - shown.length;
  return [
    t('{count, plural, one {# change} other {# changes}}: + is added, ~ changed, - removed', { count: lines.length }),
    ...shown,
    ...(more === 0 ? [] : [t('… and {more} more', { more })]),
    ...notes.map((note) => `⚠️ ${plainText(note)}`),
  ].join('\n');
}

const MOST_KB = 100;

/** The text of a file attached to a command. @throws UserError when it cannot be downloaded, or is too large */
export async function attachedText(context: AdminContext, file: Attachment): Promise<string> {
  const { client, log, signal, services } = context;
  const downloads = attachmentDownloads(client, { clock: services.clock, log, signal });
  const content = await downloadAttachment(new URL(file.url), { ...downloads, maxBytes: MOST_KB * 1_000 });
  if (typeof content !== 'string') return content.toString('utf8');
  throw new UserError(
    content === 'final'
      ? t('The file cannot be read, or has more than {limit} kB.', { limit: MOST_KB })
      : t('Discord did not hand over the file. Please try again.'),
  );
}
