import { missingSentences, t, translated, type WebRow, webAct, z } from '@cinnabar/sdk';
import type { AllServers } from '../all-servers.js';
import { backupText } from '../backup-commands.js';
import type { AdminContext } from '../context.js';
import { outcomeWords, sourceWords } from '../secrets-command.js';

/** For the owner of the bot: its servers, secrets, backups, and the doctor's checks. */
export function registerBotPages(context: AdminContext, servers: AllServers): void {
  registerServersPage(context, servers);
  registerSecretsPage(context);
  registerBackupsPage(context);
  registerDoctorPage(context);
}

const SERVERS_A_PAGE = 100;

function registerServersPage({ page }: AdminContext, servers: AllServers): void {
  page({
    name: 'servers',
    title: 'Servers',
    description: 'Where the bot is.',
    about: 'bot',
    group: 'operation',
    access: { command: 'bot servers' },
    async view({ query }) {
      const { name = '', shards } = query;
      const from = Math.max(0, Number.parseInt(query.from ?? '0', 10) || 0);
      const found = await servers.largest(
        from + SERVERS_A_PAGE,
        name,
        shards?.split(',').map(Number).filter(Number.isSafeInteger),
      );
      const more = { page: 'admin/servers', query: { ...query, from: String(from + SERVERS_A_PAGE) } };
      return {
        blocks: [
          {
            kind: 'search',
            fields: [{ name: 'name', label: t('Name'), control: { kind: 'text' }, value: name, optional: true }],
            submit: t('Search'),
            ...(shards === undefined ? {} : { query: { shards } }),
          },
          {
            kind: 'table',
            columns: [
              { name: t('Server') },
              { name: t('Members'), numeric: true },
              { name: t('Here since') },
              { name: t('Id') },
            ],
            rows: found.servers.slice(from).map(
              ({ id, name: called, members, since }): WebRow => ({
                id,
                cells: [called, { measure: members }, { time: since }, { code: id }],
                link: { overview: id },
              }),
            ),
            empty: t('The bot is in no such server. `bot invite` says how it is added to one.'),
            ...(found.count > from + SERVERS_A_PAGE ? { more } : {}),
          },
          ...missingSentences(found).map((text) => ({ kind: 'notice', tone: 'warning', text }) as const),
        ],
      };
    },
  });
}

function registerSecretsPage({ page, services: { secrets } }: AdminContext): void {
  page({
    name: 'secrets',
    title: 'Secrets',
    description: 'Which secrets are set. Their values are written here, and never shown.',
    about: 'bot',
    group: 'operation',
    access: { command: 'secrets' },
    view: () => ({
      blocks: [
        {
          kind: 'table',
          columns: [{ name: t('Name') }, { name: t('Read by') }, { name: t('State') }, { name: t('What it is') }],
          rows: secrets.list().map(({ name, plugins, source, description }) => ({
            id: name,
            cells: [
              { code: name },
              plugins.join(', '),
              { badge: sourceWords(source), tone: source === undefined ? 'plain' : 'good' },
              translated(description),
            ],
            buttons:
              source === 'stored'
                ? [
                    {
                      act: 'delete',
                      label: t('Delete'),
                      input: { name },
                      tone: 'danger',
                    },
                  ]
                : [],
          })),
          empty: t('No plugin that is loaded reads a secret.'),
        },
        {
          kind: 'form',
          act: 'set',
          title: t('Set a secret'),
          text: t('It is stored where the bot runs, and never shown again.'),
          fields: [
            {
              name: 'name',
              label: t('Name'),
              control: {
                kind: 'choice',
                none: t('Choose one'),
                of: secrets
                  .list()
                  .flatMap(({ name, source }) => (source === 'environment' ? [] : [{ value: name, text: name }])),
              },
            },
            { name: 'value', label: t('New value'), control: { kind: 'text', secret: true } },
          ],
          submit: t('Save'),
        },
      ],
    }),
    acts: {
      set: webAct({
        effect: 'changes',
        input: z.object({ name: z.string(), value: z.string().min(1).max(4_000) }),
        audit: ({ name }) => `secrets set ${name}`,
        async run({ name, value }) {
          secrets.redact(value);
          return outcomeWords(await secrets.set(name, value));
        },
      }),
      delete: webAct({
        effect: 'destroys',
        question: ({ name = '' }) => t('Delete the stored value of {name}?', { name: `\`${name}\`` }),
        input: z.object({ name: z.string() }),
        audit: ({ name }) => `secrets delete ${name}`,
        run: async ({ name }) => outcomeWords(await secrets.delete(name)),
      }),
    },
  });
}

function registerBackupsPage({ page, settings, services: { backups } }: AdminContext): void {
  const folder = async () => (await settings.global.get()).backupFolder;
  page({
    name: 'backups',
    title: 'Backups',
    description: 'Copies of the data, where the bot runs.',
    about: 'bot',
    group: 'operation',
    access: { command: 'backup' },
    async view() {
      const { backupHours } = await settings.global.get();
      const all = await backups.list(await folder());
      return {
        blocks: [
          ...(backupHours === 0
            ? [
                {
                  kind: 'notice',
                  tone: 'warning',
                  text: t('The bot makes no backups by itself: `set admin backupHours 24` makes one every day.'),
                  link: { page: 'admin/bot-settings', query: { plugin: 'admin' }, text: t('Settings') },
                } as const,
              ]
            : []),
          {
            kind: 'table',
            columns: [
              { name: t('Download') },
              { name: t('Made') },
              { name: t('Size'), numeric: true },
              { name: t('On schedule') },
            ],
            rows: all.map(({ name, createdAt, bytes, scheduled }) => ({
              id: name,
              cells: [{ code: name }, { time: createdAt }, { bytes }, scheduled ? t('yes') : t('no')],
              buttons: [{ act: 'verify', label: t('Verify'), input: { name } }],
              link: { page: 'admin/backups', download: 'backup', query: { name } },
            })),
            empty: t('There are no backups yet.'),
          },
          { kind: 'buttons', buttons: [{ act: 'create', label: t('Back up now') }] },
        ],
      };
    },
    acts: {
      create: webAct({
        effect: 'changes',
        input: z.object({}),
        audit: () => 'backup now',
        run: async () => backupText(await backups.create({ folder: await folder() })),
      }),
      verify: webAct({
        effect: 'shows',
        input: z.object({ name: z.string() }),
        run: async ({ name }) =>
          t('It is sound: {backup}', { backup: backupText(await backups.verify(name, await folder())) }),
      }),
    },
    files: {
      backup: {
        audit: ({ name = '' }) => `backup download ${name}`,
        async open({ query: { name = '' } }) {
          const { bytes, read } = await backups.open(name, await folder());
          return { name, contentType: 'application/gzip', bytes, read };
        },
      },
    },
  });
}

function registerDoctorPage({ page, services: { doctor } }: AdminContext): void {
  page({
    name: 'doctor',
    title: 'Doctor',
    description: 'Whether everything is there that the bot needs to run.',
    about: 'bot',
    group: 'operation',
    access: { command: 'doctor' },
    async view() {
      const findings = await doctor.examine();
      const isShared = findings.some(({ process }) => process !== undefined);
      return {
        blocks: [
          {
            kind: 'table',
            columns: [
              { name: '' },
              ...(isShared ? [{ name: t('Process') }] : []),
              { name: t('What') },
              { name: t('Finding') },
              { name: t('What helps') },
            ],
            rows: findings.map(({ ok, about, process = null, text, remedy = null }, index) => ({
              id: String(index),
              cells: [
                { badge: ok ? '✓' : '✗', tone: ok ? 'good' : 'bad' },
                ...(isShared ? [process] : []),
                about,
                text,
                remedy,
              ],
            })),
            empty: t('There is nothing to check.'),
          },
        ],
      };
    },
  });
}
