package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// maxAnswer bounds the line that a question is answered with.
const maxAnswer = 1024

// asks reports whether there is somebody to answer a question.
func (a *app) asks() bool {
	if a.interactive != nil {
		return a.interactive()
	}
	file, ok := a.stdin.(*os.File)
	if !ok {
		return false
	}
	_, terminal := terminalWidth(file)
	return terminal
}

// ask prints a question and returns the answer in lower case; the first choice
// stands for an empty one. An answer that is no choice is asked for again, and the end
// of the input is "".
func (a *app) ask(question string, choices ...string) string {
	if a.answers == nil {
		a.answers = bufio.NewReaderSize(a.stdin, maxAnswer)
	}
	for {
		fmt.Fprintf(a.stdout, "%s ", question)
		line, err := a.answers.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer == "" && err == nil {
			return choices[0]
		}
		for _, choice := range choices {
			if answer != "" && strings.HasPrefix(choice, answer) {
				return choice
			}
		}
		if err != nil {
			fmt.Fprintln(a.stdout)
			return ""
		}
	}
}

// confirm asks a question whose answer is yes unless somebody says no.
func (a *app) confirm(question string) bool {
	return a.ask(question+" [Y/n]", "yes", "no") == "yes"
}
