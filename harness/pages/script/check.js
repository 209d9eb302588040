export function checkViews() { return []; }
