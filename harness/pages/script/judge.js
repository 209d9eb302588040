export function judgeViews() { return []; }
