import { formatDuration, replyPrivately, sentenceOf, t, UserError, type VerifiedBackup, z } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import type { AdminContext } from './context.js';
import { code } from './format.js';

/** Interval at which due backups are looked for. */
const LOOK_MS = 10 * 60_000;
/** Interval of progress messages of a long backup. */
const TELL_MS = 5_000;
const MOST_LISTED = 30;

/** `!backup` for the bot's owner, and scheduled backups. */
export function registerBackups(context: AdminContext): void {
  const { command, every, ready, log, settings, services } = context;
  const { backups, clock, host, notices } = services;
  const folderOf = async () => (await settings.global.get()).backupFolder;

  /** Makes a backup when the last one is old enough. After a failure, the next check tries again. */
  const backUpIfDue = async (): Promise<void> => {
    const { backupHours, backupKeep, backupFolder } = await settings.global.get();
    if (backupHours === 0) return;
    try {
      // A backup with a future time was made before the clock was corrected.
      const made = (await backups.list(backupFolder)).filter(({ createdAt }) => createdAt <= clock.now());
      const last = made.find(({ scheduled }) => scheduled);
      if (last !== undefined && clock.now() - last.createdAt < backupHours * 3_600_000) return;
      const { name } = await backups.create({ folder: backupFolder, scheduled: true });
      const pruned = await backups.prune(backupKeep, backupFolder);
      log.info('backed up on schedule', { name, pruned });
    } catch (error) {
      log.error('a backup on schedule failed', { error });
      notices.alert({
        kind: 'backup-failed',
        text: () =>
          t('A backup on schedule failed: {detail}', {
            detail: sentenceOf(error) ?? (error instanceof Error ? error.message : String(error)),
          }),
        remedy: () =>
          t('Look at the disk and at the settings of backups (`set admin`). It is tried again every ten minutes.'),
      });
    }
  };
  // When several hosts serve one bot, each backup contains the data of all.
  if (host.isFirst) {
    ready(backUpIfDue);
    every(LOOK_MS, backUpIfDue);
  }

  command({
    name: 'backup',
    description: 'Back up the data of the bot, list and verify backups',
    help: [
      'The backup is kept where the bot runs, in `data/backups` unless `set admin backupFolder` says otherwise; `cinnabar restore` puts it back while the bot is stopped.',
      'Without secrets, unless asked for with `backup with-secrets`. `set admin backupHours 24` makes one every day.',
    ].join(' '),
    access: { tier: 'botOwner' },
    ephemeral: true,
    options: {
      what: z.enum(['now', 'with-secrets', 'list', 'verify']).default('now').describe('What to do'),
      name: z.string().optional().describe('Which backup to verify; without it the newest'),
    },
    examples: ['backup', 'backup list', 'backup verify'],
    async run(ctx, { what, name }) {
      const folder = await folderOf();
      if (what === 'list') return replyPrivately(ctx, { content: await listOf(context, folder) });
      if (what === 'verify') {
        const wanted = name ?? (await backups.list(folder))[0]?.name;
        if (wanted === undefined) throw new UserError(t('There are no backups yet.'));
        await ctx.defer();
        return ctx.reply(t('It is sound: {backup}', { backup: backupText(await backups.verify(wanted, folder)) }));
      }
      await ctx.defer();
      // For a slash command, Discord shows a progress indicator.
      const progress =
        ctx.source === 'prefix' ? createProgress(await ctx.reply(t('Backing up …')), clock.now) : undefined;
      const startedAt = clock.now();
      const backup = await backups.create({
        folder,
        withSecrets: what === 'with-secrets',
        ...(progress === undefined ? {} : { onProgress: progress.tell }),
      });
      const content = t('Backed up in {duration}: {backup}', {
        duration: formatDuration(Math.max(1_000, Math.ceil((clock.now() - startedAt) / 1_000) * 1_000)),
        backup: backupText(backup),
      });
      return progress === undefined ? ctx.reply(content) : progress.end(content);
    },
  });
}

async function listOf({ services: { backups } }: AdminContext, folder: string | undefined): Promise<string> {
  const all = await backups.list(folder);
  if (all.length === 0) return t('There are no backups yet.');
  const lines = all.slice(0, MOST_LISTED).map(({ name, createdAt, bytes }) => {
    const seconds = Math.floor(createdAt / 1_000);
    return `• <t:${seconds}:f> ${code(name)} ${megabytes(bytes)}`;
  });
  const more = all.length - MOST_LISTED;
  return [
    t('**Backups** ({count})', { count: all.length }),
    ...lines,
    ...(more > 0 ? [t('… and {more} more', { more })] : []),
  ].join('\n');
}

/** A verified backup as one sentence. */
export function backupText({ name, files, bytes, withSecrets, leftOut, host }: VerifiedBackup): string {
  const secrets = withSecrets
    ? t('with secrets: keep it safe')
    : leftOut.length === 0
      ? t('without stored secrets')
      : t('without secrets ({leftOut})', { leftOut: leftOut.join(', ') });
  return t(
    '{name}, {files, plural, one {# file} other {# files}}, {size}, by Cinnabar {host}, {secrets}. Every checksum is right.',
    {
      name: code(name),
      files,
      size: megabytes(bytes),
      host,
      secrets,
    },
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A message with the progress of a backup, edited from time to time. */
function createProgress(message: Message, now: () => number) {
  let toldAt = now();
  let editing: Promise<unknown> = Promise.resolve();
  const write = (content: string) => {
    editing = editing.then(() => message.edit(content)).catch(() => undefined);
    return editing;
  };
  return {
    tell(done: number, total: number): void {
      if (now() - toldAt < TELL_MS) return;
      toldAt = now();
      void write(t('Backing up … {percent} %', { percent: Math.floor((100 * done) / Math.max(1, total)) }));
    },
    async end(content: string): Promise<void> {
      await editing;
      await message.edit(content);
    },
  };
}
