export * from './clock.js';
export { startAnthropicStandIn } from './providers/anthropic/start.js';
export { startOpenAiStandIn } from './providers/openai/start.js';
export type { ModelScript, PromptView, ScriptOptions } from './providers/prompt.js';
export type { Ending, RecordedRequest } from './providers/recording.js';
export { type ScriptedLlm, scriptedLlm } from './providers/scripted-llm.js';
export type { StandIn, StandInOptions } from './providers/server.js';
export {
  callTool,
  callToolRaw,
  callTools,
  cutMidway,
  type FailStep,
  fail,
  type HangStep,
  hang,
  hangMidway,
  type ModelStep,
  type ReplyStep,
  refuse,
  type ScriptedCall,
  type ScriptedUsage,
  say,
} from './providers/steps.js';
