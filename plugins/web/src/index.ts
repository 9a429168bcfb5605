import { fileURLToPath } from 'node:url';
import {
  Access,
  Clock,
  definePlugin,
  HostInfo,
  Languages,
  Monitoring,
  parseListen,
  replyPrivately,
  subcommand,
  t,
  UserError,
  urlOf,
  WebPages,
  WebServer,
  z,
} from '@cinnabar/sdk';
import { askConnections } from './health.js';
import { askReadings, createHealthHistory } from './samples.js';
import { createSessions, createSignInLinks, sessions } from './sessions.js';

const listen = z.string().refine((text) => parseListen(text) !== undefined, 'has to be a port, host:port, or off');

const settings = {
  global: z.object({
    listen: listen
      .default('off')
      .describe('Where the dashboard is served: a port of this machine, host:port, or off; CINNABAR_WEB comes first'),
    publicUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('The address under which a proxy shows it, such as https://bot.example.org'),
    trustProxy: z
      .boolean()
      .default(false)
      .describe('Whether a proxy stands before it, whose word on the address of a visitor counts'),
    idleDays: z
      .number()
      .int()
      .min(1)
      .max(90)
      .default(7)
      .describe('After how many days without a visit a person has to sign in again'),
  }),
};

const env = z.object({
  CINNABAR_WEB: listen.optional().describe('Where the dashboard is served: a port of this machine, host:port, or off'),
  DISCORD_CLIENT_SECRET: z
    .string()
    .optional()
    .describe("Client secret of the bot's application, with which people sign in to the dashboard by Discord"),
  CINNABAR_METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe(
      'Bearer token with which other machines may read /metrics of the dashboard; without it this machine alone may',
    ),
});

const SWEEP_MS = 6 * 60 * 60_000;

export default definePlugin({
  manifest: {
    id: 'web',
    version: '0.1.0',
    description: 'The dashboard: pages of every plugin in a browser, for those who may use the same commands',
    host: '^0.1.0',
    administrative: true,
  },
  settings,
  env,
  collections: { sessions },
  inject: {
    access: Access,
    clock: Clock,
    host: HostInfo,
    languages: Languages,
    monitoring: Monitoring,
    pages: WebPages,
  },
  provides: [WebServer],
  async setup(context) {
    const { client, collections, log, services } = context;
    const { access, clock, host } = services;
    const global = () => context.settings.global.get();
    const { listen, publicUrl, trustProxy } = await global();
    const known = createSignInLinks(clock);
    const address = parseListen(context.env.CINNABAR_WEB ?? listen);
    const connections = askConnections(context, host);
    const readings = askReadings(context, services.monitoring);
    const server = await open();

    const signInLink = (userId: string): string => {
      if (server === undefined)
        throw new UserError(
          t('The dashboard is off. The owner of the bot sets `set web listen 8080`, then `plugin reload web`.'),
        );
      // The fragment stays in the browser: servers, proxies and link previews do not receive it.
      return `${server.url}/sign-in#${known.make(userId)}`;
    };

    context.provide(WebServer, { url: server?.url, signInLink });
    /** Answered by the process that serves the dashboard, because only that process can create links. */
    const links = context.question({
      name: 'sign-in-link',
      input: z.object({ userId: z.string() }),
      answer: z.string(),
      run: ({ userId }) => signInLink(userId),
    });
    context.group({
      name: 'web',
      description: 'The dashboard in a browser',
      access: { tier: 'botOwner' },
      commands: [
        subcommand({
          name: 'link',
          description: 'Get a link that signs you in to the dashboard, once',
          help: 'It comes as a direct message, and works for ten minutes.',
          ephemeral: true,
          async run(ctx) {
            const link = await links.of(null, { userId: ctx.user.id });
            await replyPrivately(ctx, {
              content: t('For your eyes alone, once, within ten minutes: {link}', { link }),
            });
          },
        }),
      ],
    });

    /** The server's library is large, so it is loaded only if the dashboard is configured. */
    async function open() {
      if (address === undefined || address === 'off') return undefined;
      // In a cluster one process listens; the others report its address.
      if (!host.isFirst) {
        context.defer(
          services.pages.serveAt(publicUrl === undefined ? urlOf(address, address.port) : new URL(publicUrl).origin),
        );
        return undefined;
      }
      const [{ startServer }, { createDiscordSignIn }, { registerHealthPage }] = await Promise.all([
        import('./server.js'),
        import('./discord-sign-in.js'),
        import('./health.js'),
      ]);
      registerHealthPage(context, createHealthHistory(readings, clock), connections);
      const secret = context.env.DISCORD_CLIENT_SECRET;
      const store = createSessions(collections.sessions, clock, async () => (await global()).idleDays);
      context.every(SWEEP_MS, store.sweep);
      const started = await startServer({
        address,
        publicUrl,
        trustProxy,
        folder: fileURLToPath(new URL('../public/', import.meta.url)),
        pages: services.pages,
        access,
        client,
        languages: services.languages,
        sessions: store,
        links: known,
        monitoring: services.monitoring,
        metricsToken: context.env.CINNABAR_METRICS_TOKEN,
        discordSignIn: secret === undefined ? undefined : createDiscordSignIn(client, secret, clock),
        clock,
        log,
      });
      context.defer(started.close);
      context.defer(services.pages.serveAt(started.url));
      return started;
    }
  },
});
