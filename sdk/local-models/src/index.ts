export { startAnthropicStandIn } from './anthropic.js';
export { startBedrockStandIn } from './bedrock.js';
export { type EmbeddingOptions, wordVector } from './embedding.js';
export { startGoogleStandIn } from './google.js';
export { startOpenAiStandIn } from './openai/start.js';
export type { Ending, RecordedRequest } from './recording.js';
export { type ScriptedEmbeddings, type ScriptedLlm, scriptedLlm } from './scripted-llm.js';
export type { StandIn, StandInOptions } from './server.js';
export type { ModelScript, PromptView, ScriptOptions } from './steps.js';
export {
  callTool,
  callToolRaw,
  callTools,
  cutMidway,
  endMidway,
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
} from './steps.js';
