package toy

import (
	"encoding/json"

	"github.com/tracesmith/tracesmith/internal/modelserver"
)

// say is a reply that ends the turn.
func say(text string) modelserver.Step {
	return modelserver.Step{Blocks: []modelserver.Block{{Text: text}}, Usage: usage(30)}
}

// call is a reply that calls tools: pairs of a name and its arguments.
func call(text string, pairs ...any) modelserver.Step {
	step := modelserver.Step{Usage: usage(80)}
	if text != "" {
		step.Blocks = append(step.Blocks, modelserver.Block{Text: text})
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		input, err := json.Marshal(pairs[i+1])
		if err != nil { // scripts are texts
			input = json.RawMessage(`{}`)
		}
		step.Blocks = append(step.Blocks, modelserver.Block{Tool: name, Input: input})
	}
	return step
}

func usage(output int) modelserver.Usage {
	return modelserver.Usage{Input: 20, Output: output, CacheRead: 1500, Write5m: 120}
}

// args are a tool's arguments.
type args map[string]string

// Scripts are what the model does in each of the examples.
func Scripts() map[string]modelserver.Scenario {
	return map[string]modelserver.Scenario{
		"fix": {
			call("I will see what go vet says.", "bash", args{"command": "go vet ."}),
			call("The verb does not fit the argument.", "read", args{"path": "main.go"}, "read", args{"path": "README.md"}),
			call("I will make it a number.", "edit", args{"path": "main.go", "old": `"three")`, "new": `3)`}),
			call("And check.", "bash", args{"command": "go vet ."}),
			say("main.go printed a string with %d; it prints the number now, and go vet has nothing to say."),
		},
		"explain": {
			call("Let me read it first.", "read", args{"path": "main.go"}),
			say("The program prints how many widgets are in stock: it hands the text \"three\" to the verb %d, so what it prints is not a number."),
		},
		"review": {
			call("Two people shall look at it.",
				"task", args{"agent": "explorer", "prompt": Prompt("What is in this repository?", "explore")},
				"task", args{"agent": "reviewer", "prompt": Prompt("What is wrong with main.go?", "judge")}),
			say("A program that counts widgets, and counts them with the wrong verb."),
		},
		"explore": {
			call("", "read", args{"path": "README.md"}, "task", args{"agent": "summarizer", "prompt": Prompt("Sum main.go up.", "sum-up")}),
			say("A module that counts widgets: one file."),
		},
		"judge": {
			call("", "read", args{"path": "main.go"}, "bash", args{"command": "go vet ."}),
			say("fmt.Printf gets a string for %d."),
		},
		"sum-up": {
			call("", "read", args{"path": "main.go"}),
			say("It prints a count."),
		},
		"count": {
			call("The warehouse knows.", "count", args{"item": "widgets"}, "count", args{"item": "sprockets"}),
			say("There are 3 widgets; nobody knows of sprockets."),
		},
	}
}
