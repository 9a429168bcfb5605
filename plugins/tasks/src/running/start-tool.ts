/** By which other minds start tasks. A task starts none. */
export const START_TOOL = 'start_task';
