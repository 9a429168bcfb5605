import { sentenceOf } from '@cinnabar/sdk';
import { type Configuration, configure } from './configuration.js';
import type { Environment, GlobalSettings } from './settings.js';

/** The configuration in lines for the bot's owner. Never shows a key, nor more of an address than its host. */
export function describeStatus(settings: GlobalSettings, env: Environment): string {
  try {
    return describe(configure(settings, env), settings);
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    return `⚠️ ${sentence}`;
  }
}

function describe({ source, model, because }: Configuration, settings: GlobalSettings): string {
  const lines = [`**Provider:** ${source.provider} (${because})`, `**Model:** ${model}`];
  if (source.provider === 'offline') {
    return [...lines, 'Set `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, or a base URL, to connect a language model.'].join(
      '\n',
    );
  }
  const { timeoutMs, retries, retryDelayMs, stream } = settings;
  return [
    ...lines,
    ...(source.provider === 'openai' ? [`**API:** ${source.api}`] : []),
    `**Server:** ${new URL(source.baseUrl).host}`,
    `**Key:** ${source.key === undefined ? 'not set' : 'set'}`,
    `**Each attempt:** up to ${timeoutMs / 1000} s${stream ? ', streamed' : ''}; ${retries} more after ${retryDelayMs / 1000} s`,
  ].join('\n');
}
