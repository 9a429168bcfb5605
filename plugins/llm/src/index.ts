import {
  Accounts,
  type CinnabarError,
  Clock,
  Configuration,
  definePlugin,
  Llm,
  meterLlm,
  OwnerNotices,
  operatorSentenceOf,
  optional,
  Random,
  Redaction,
  replyPrivately,
  subcommand,
  t,
  textFile,
  UserError,
} from '@cinnabar/sdk';
import type { Setup } from './attempt.js';
import { createBodies } from './bodies.js';
import { createBreakers } from './circuit-breaker.js';
import { createModels } from './llm.js';
import type { ProviderDefinition } from './providers/definition.js';
import { createProviders, PROVIDERS } from './providers/registry.js';
import { createRouter } from './routes.js';
import { environmentOf, settingsOf } from './settings.js';
import { checkVendors, createModelMetrics, describeStatus } from './status.js';
import { fileKeysOf, withVendorsOfFiles } from './vendors.js';

/** The plugin with these providers. Everything about a provider follows from its definition. */
export function llmPlugin(providers: readonly ProviderDefinition[]) {
  const fileKeys = fileKeysOf(providers);
  const titles = providers.filter(({ fromVendor }) => fromVendor !== undefined).map(({ title }) => title);

  return definePlugin({
    manifest: {
      id: 'llm',
      version: '0.1.0',
      description: `Connects language models: ${titles.join(', ')}, compatible servers, or an offline stand-in`,
      host: '^0.1.0',
      administrative: true,
    },
    settings: { global: settingsOf(providers) },
    configuration: fileKeys,
    env: environmentOf(providers),
    inject: {
      accounts: optional(Accounts),
      clock: Clock,
      configuration: Configuration,
      notices: OwnerNotices,
      random: Random,
      redaction: Redaction,
    },
    provides: [Llm],
    checks: ({ settings, env, configuration, signal }) =>
      checkVendors(
        createRouter(providers),
        async () => withVendorsOfFiles(await settings.global.get(), fileKeys, configuration),
        env,
        signal,
      ),
    async setup({
      provide,
      group,
      personalData,
      defer,
      settingsChanged,
      settings,
      env,
      services,
      metrics,
      log,
      signal,
    }) {
      const { clock, notices, random } = services;
      const providerFor = createProviders(clock, random);
      const router = createRouter(providers);
      const breakers = createBreakers(clock, log, (vendor, model) =>
        notices.alert({
          kind: 'model-resting',
          text: () =>
            t('The model {model} of {vendor} failed five times in a row, so it was not asked for half a minute.', {
              model,
              vendor,
            }),
          remedy: () =>
            t(
              '`!llm status` shows whether it answers now; if not, look at its address and key, or choose another model.',
            ),
        }),
      );
      // Members read a general sentence; the address, the variable and the provider's message go to the owner.
      const tellOwner = (error: CinnabarError) => {
        if (error.code !== 'CINNABAR_LLM_REFUSED' && error.code !== 'CINNABAR_LLM_NOT_CONFIGURED') return;
        notices.alert({
          kind: 'model-refused',
          text: () => operatorSentenceOf(error) ?? error.message,
          remedy: () => t('`!llm status` shows the address, whether a key is set, and whether the model answers.'),
        });
      };
      const bodies = createBodies(clock, services.redaction, log);
      // All bodies are deleted, since the members whose messages a body contains are not known.
      personalData({ forget: async () => bodies.clear() });
      let current: Llm['current'] = { provider: 'offline', model: 'offline' };

      const readValues = async () => withVendorsOfFiles(await settings.global.get(), fileKeys, services.configuration);
      const setup = async (): Promise<Setup> => {
        const values = await readValues();
        const routes = await router.routes(values, env);
        current = { provider: routes.vendorFor(routes.model).definition.name, model: routes.model };
        return { settings: values, routes, providerFor };
      };
      const refresh = async (): Promise<string | undefined> => {
        try {
          await setup();
          return undefined;
        } catch (error) {
          const sentence = operatorSentenceOf(error);
          if (sentence === undefined) throw error;
          current = { provider: 'none', model: 'not configured' };
          return sentence;
        }
      };

      // The plugin starts even with an invalid configuration: the owner needs its settings to correct it.
      const problem = await refresh();
      if (problem !== undefined) log.warn(problem);
      // Status lines read `current` synchronously.
      settingsChanged(refresh);
      defer(
        services.configuration.onChange(() => {
          refresh().catch((error: unknown) => log.error('the changed configuration could not be read', { error }));
        }),
      );
      const models = createModels({
        setup,
        current: () => current,
        breakers,
        metrics: createModelMetrics(metrics, breakers, clock),
        bodies,
        clock,
        random,
        log,
        signal,
        onFailure: tellOwner,
      });
      provide(Llm, meterLlm(models, services));

      group({
        name: 'llm',
        description: 'The language model behind the bot',
        access: { tier: 'botOwner' },
        commands: [
          subcommand({
            name: 'status',
            reads: true,
            description: 'Which models answer, where they are, whether keys are set, and whether they can be reached',
            ephemeral: true,
            run: async (context) => context.reply(await describeStatus(router, breakers, await readValues(), env)),
          }),
          subcommand({
            name: 'requests',
            description: 'Send you the bodies of the last requests to models, and what came back, as a file',
            ephemeral: true,
            async run(context) {
              if (!(await readValues()).keepBodies) {
                bodies.clear();
                throw new UserError(
                  t('No bodies are kept: `set llm keepBodies true` keeps those of the next requests.'),
                );
              }
              const { kept } = bodies;
              if (kept.length === 0) throw new UserError(t('No request has been made since bodies are kept.'));
              const text = kept
                .map(({ at, provider, model, body, answer = 'none yet' }) =>
                  [`# ${at} ${model} by ${provider}`, body, '## Answer', answer].join('\n'),
                )
                .join('\n\n');
              const content = t('The last {count} requests, the newest first.', { count: kept.length });
              return replyPrivately(context, { content, files: [textFile('requests.txt', text)] });
            },
          }),
        ],
      });
    },
  });
}

export default llmPlugin(PROVIDERS);
